/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>

int run(void)
{
    for (;;) {
        record_put(0);
        camkes_work(CAMKES_US(10));
    }
    return 0;
}
