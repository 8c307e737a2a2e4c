/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>

void shapes_none(void)
{
}

void shapes_in4(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    (void)a, (void)b, (void)c, (void)d;
}

uint64_t shapes_out3(uint64_t *a, uint64_t *b, uint64_t *c)
{
    *a = *b = *c = 1;
    return 4;
}

int shapes_add(int a, int b)
{
    return a + b;
}
