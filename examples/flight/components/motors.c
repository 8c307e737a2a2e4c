/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <stdbool.h>

static bool stopped;

void output_set(int m0, int m1, int m2, int m3)
{
    camkes_work(CAMKES_US(10));
    if (!stopped) {
        pwm_set(m0, m1, m2, m3);
    }
}

void output_stop(void)
{
    camkes_work(CAMKES_US(10));
    stopped = true;
    pwm_set(0, 0, 0, 0);
}
