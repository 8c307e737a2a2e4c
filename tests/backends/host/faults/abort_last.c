/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <stdio.h>
#include <stdlib.h>
int run(void)
{
    abort(); // FAULT
}
int after(void)
{
    return 1;
}
