/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <stdio.h>
static __attribute__((noinline)) int dig(volatile int n)
{
    volatile char buffer[512];
    buffer[n % 512] = 1;
    return n < 0 ? 0 : dig(n + 1) + buffer[0];
}
int run(void)
{
    return dig(0);
}
