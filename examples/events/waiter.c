/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <stdio.h>

int run(void)
{
    for (int i = 1; i <= 3; i++) {
        tick_wait();
        printf("waiter: heard %d\n", i);
    }
    return 0;
}
