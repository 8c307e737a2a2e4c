/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <stdio.h>
#include <stdlib.h>

int calc_add(int a, int b)
{
    return a + b;
}

void calc_accumulate(size_t values_sz, const int *values, int *sum, int *total)
{
    *sum = 0;
    for (size_t i = 0; i < values_sz; i++) {
        *sum += values[i];
    }
    *total += *sum;
}

char *calc_describe(const char *name, int value)
{
    char *text = malloc(64);
    snprintf(text, 64, "%s is %d", name, value);
    return text;
}
