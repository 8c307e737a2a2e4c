/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <stdio.h>

int run(void)
{
    for (int shown = 0; shown < 3; shown++) {
        ready_wait();
        frame_acquire();
        printf("display: frame %d: %.16s\n", frame->number, (const char *)frame->pixels);
    }
    return 0;
}
