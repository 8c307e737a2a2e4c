/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>

void keep_put(int sample)
{
    (void)sample;
    camkes_work(CAMKES_US(90));
}
