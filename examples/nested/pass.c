/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>

int r_compute(int value)
{
    camkes_work(CAMKES_US(work_us / 2));
    int result = next_compute(value) + 1;
    camkes_work(CAMKES_US(work_us / 2));
    return result;
}
