// SPDX-License-Identifier: BSD-2-Clause
// SPDX-FileCopyrightText: 2026 The camkes-rt developers
#include <camkes.h>

int run(void)
{
    timeout_oneshot_relative(0, 1000);
    timeout_wait();
    return 0;
}
