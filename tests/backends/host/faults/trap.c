/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <stdio.h>
int run(void)
{
    __builtin_trap(); // FAULT
}
int after(void)
{
    return 1;
}
