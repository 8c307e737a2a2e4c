/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <stdio.h>
#include <string.h>
int run(void)
{
    char *volatile none = 0;
    return strcasecmp(none, none + 1) > 3; // FAULT
}
