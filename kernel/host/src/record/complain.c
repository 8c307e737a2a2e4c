/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Messages of the kernel itself, and the ends that they announce. */
#include "isolation/memory.h"
#include "record/output.h"
#include "isolation/processes.h"
#include "state.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static void say(const char *format, va_list arguments)
{
    char text[1000];
    struct message message = {0};
    vsnprintf(text, sizeof text, format, arguments);
    message_add(&message, "camkes-host: %s\n", text);
    if (kernel) {
        access_open(); /* it ends the process, or there is kernel code around */
        stream_put(&kernel->messages, message.text, message.length);
    } else if (write(STDERR_FILENO, message.text, message.length) < 0) {
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

/* Ends this process; the runner writes first what is still to be written. */
_Noreturn void process_exit(int status)
{
    if (kernel && !process.space && status != STATUS_DAMAGED) {
        stream_write();
    }
    control_exit(status);
}

_Noreturn void give_up(int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
    process_exit(status);
}
