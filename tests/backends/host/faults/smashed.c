/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <stdio.h>
#include <string.h>
static __attribute__((noinline)) int smash(void)
{
    char buffer[8];
    char *volatile all = buffer;
    memset(all, 0x41, 64);
    return *(volatile int *)8; // FAULT
}
int run(void)
{
    return smash() + 1;
}
