/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <stdio.h>
typedef void (*f)(void);
int run(void)
{
    f volatile none = 0;
    none(); // FAULT
    return 1;
}
