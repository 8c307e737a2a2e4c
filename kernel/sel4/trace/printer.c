/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Prints what others record, one line a record, when no other thread runs:
 *     ~ TIME KIND THREAD OTHER ARGUMENT...
 * in hexadecimal. camkes/backends/sel4/trace.py reads it.
 */
#include "clock_sel4.h"
#include "trace_sel4.h"

#include <autoconf.h>
#include <camkes/platform.h>
#include <camkes/trace.h>
#include <sel4/sel4.h>
#include <stdio.h>

void _camkes_thread(unsigned index);

#define CAMKES_IDLE_RECORD_NS 10000000

static void print(const char *text)
{
#ifdef CONFIG_PRINTING
    for (; *text != '\0'; text++) {
        seL4_DebugPutChar(*text);
    }
#else
    (void)text;
#endif
}

static void print_entry(const struct camkes_sel4_trace_entry *entry)
{
    char text[160];
    int at = snprintf(text, sizeof(text), "~ %llx %x %x %x", (unsigned long long)entry->time,
                      entry->kind, entry->thread, entry->other);
    for (unsigned i = 0; i < entry->arguments; i++) {
        at += snprintf(text + at, sizeof(text) - (size_t)at, " %llx",
                       (unsigned long long)entry->argument[i]);
    }
    print(text);
    print("\n");
}

/* No other thread runs, and nothing was recorded for a while: the reader gets the current time. */
static void tell_time(uint64_t now)
{
    static uint64_t recorded;
    if (now >= recorded + CAMKES_IDLE_RECORD_NS) {
        recorded = now;
        const struct camkes_sel4_trace_entry idle = {.kind = CAMKES_TRACE_IDLE,
                                                     .thread = CAMKES_TRACE_NO_NUMBER,
                                                     .other = CAMKES_TRACE_NO_NUMBER,
                                                     .time = now};
        print_entry(&idle);
    }
}

void _camkes_thread(unsigned index)
{
    (void)index;
    struct camkes_sel4_trace *trace = (struct camkes_sel4_trace *)_camkes_trace;
    for (uint32_t next = 0;; next++) {
        struct camkes_sel4_trace_entry *entry = &trace->entry[next % CAMKES_SEL4_TRACE_ENTRIES];
        /* the time first: what others record after it must not be printed after it */
        for (uint64_t now = camkes_sel4_now(); !atomic_load(&entry->full);
             now = camkes_sel4_now()) {
            tell_time(now);
            seL4_Yield();
        }
        print_entry(entry);
        atomic_store(&entry->full, 0);
        if (atomic_exchange(&trace->lost, 0) > 0) {
            print("~ lost\n");
        }
    }
}
