/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>

int p_pow(int base, int exponent)
{
    camkes_work(CAMKES_MS(1));
    int result = next_pow(base, exponent);
    camkes_work(CAMKES_MS(1));
    return result;
}
