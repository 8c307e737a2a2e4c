/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* An assertion that fails ends a test of parts of the runtime, unless that is about it. */
#include <camkes/platform.h>
#include <stdio.h>
#include <stdlib.h>

void camkes_assertion_failed(const char *file, int line, const char *condition)
    __attribute__((weak));

void camkes_assertion_failed(const char *file, int line, const char *condition)
{
    printf("%s:%d: %s\n", file, line, condition);
    exit(1);
}
