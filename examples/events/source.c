/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <stdio.h>

int run(void)
{
    for (int i = 1; i <= 3; i++) {
        camkes_work(CAMKES_MS(1));
        printf("source: tick %d\n", i);
        tick_emit();
        done_wait();
    }
    printf("source: all ticks were heard\n");
    return 0;
}
