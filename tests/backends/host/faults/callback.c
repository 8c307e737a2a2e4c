/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <stdio.h>
#include <stdlib.h>
static int compare(const void *a, const void *b)
{
    (void)a;
    (void)b;
    return *(volatile int *)12; // FAULT
}
int run(void)
{
    int all[4] = {4, 3, 2, 1};
    qsort(all, 4, sizeof *all, compare); // CALL
    return all[0];
}
