/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>

int p_pow(int base, int exponent)
{
    int result = 1;
    camkes_work(CAMKES_MS(1));
    for (int i = 0; i < exponent; i++) {
        result *= base;
    }
    return result;
}
