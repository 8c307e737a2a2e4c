/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <stdio.h>
static inline __attribute__((always_inline)) int deep(int *p)
{
    return *(volatile int *)p; // FAULT
}
static __attribute__((noinline)) int middle(int *p)
{
    return deep(p) + 1; // CALL
}
int run(void)
{
    return middle((int *)16) + 1; // CALL
}
