/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <stdio.h>
#include <string.h>
char buffer[64];
int run(void)
{
    char *volatile none = 0;
    volatile size_t n = 60;
    memcpy(buffer, none, n); // FAULT
    return buffer[3];
}
