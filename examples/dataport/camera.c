/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <string.h>

int run(void)
{
    for (int number = 1; number <= 3; number++) {
        camkes_work(CAMKES_MS(5));
        frame->number = number;
        memset(frame->pixels, '0' + number, sizeof frame->pixels);
        frame_release();
        ready_emit();
    }
    return 0;
}
