/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <stdio.h>
#include <assert.h>
int run(void)
{
    assert(sizeof(int) == 1); // FAULT
    return 0;
}
