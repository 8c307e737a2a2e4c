/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <stdio.h>
int run(void)
{
    char *volatile none = (char *)5;
    printf("%s|\n", none); // FAULT
    return 0;
}
