/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The last violation that a part of the oracle has reported, as "PROPERTY: TEXT". */
#pragma once

#include "oracle/oracle.h"

#include <stdarg.h>
#include <stdio.h>

static char said[256];

void oracle_violation(char property, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = snprintf(said, sizeof said, "%c: ", property);
    vsnprintf(said + length, sizeof said - (size_t)length, format, arguments);
    va_end(arguments);
}
