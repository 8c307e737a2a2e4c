/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Messages of the runner itself. */
#include "kernel.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static void say(const char *format, va_list arguments)
{
    char text[1024];
    int n = snprintf(text, sizeof text, "camkes-host: ");
    n += vsnprintf(text + n, sizeof text - (size_t)n - 1, format, arguments);
    if (n > (int)sizeof text - 2) {
        n = (int)sizeof text - 2;
    }
    text[n++] = '\n';
    if (write(STDERR_FILENO, text, (size_t)n) < 0) {
        return; /* nowhere left to complain */
    }
}

void complain(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
}

_Noreturn void give_up(int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
    process_exit(status);
}
