/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Names of what is judged, and the words for what is wrong. */
#include "oracle/oracle.h"

#include <stdarg.h>
#include <stdio.h>

void (*oracle_report)(char property, const char *text);

void oracle_violation(char property, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    oracle_report(property, text);
}

const char *oracle_thread_name(unsigned number)
{
    return number < oracle_system.thread_count ? oracle_system.threads[number].name : "no thread";
}

const char *oracle_context_name(unsigned context)
{
    return oracle_system.contexts[context].name;
}

const char *oracle_cpi_name(unsigned cpi)
{
    return oracle_system.cpis[cpi].name;
}

const char *oracle_lock_name(unsigned cpi)
{
    return oracle_system.cpis[cpi].lock_name;
}

const char *oracle_task_name(unsigned task)
{
    for (unsigned i = 0; i < oracle_system.task_count; i++) {
        if (oracle_system.tasks[i].id == task) {
            return oracle_system.tasks[i].name;
        }
    }
    return "no task";
}
