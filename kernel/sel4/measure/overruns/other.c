/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Makes the CPIs ones that two tasks use. */
#include <camkes.h>

int run(void)
{
    extend_work(0);
    abort_work(0);
    return 0;
}
