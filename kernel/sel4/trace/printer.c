/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Prints what others record, one line a record, when no other thread runs:
 *     ~ TIME KIND THREAD OTHER ARGUMENT...
 * in hexadecimal. camkes/backends/sel4/trace.py reads it.
 */
/* Its calls are not those of the system. */
#define CAMKES_SEL4_CALLS_NOT_RECORDED
#include "clock_sel4.h"
#include "trace_sel4.h"

#include <autoconf.h>
#include <camkes/platform.h>
#include <camkes/trace.h>
#include <sel4/sel4.h>
#include <stdbool.h>
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
    /* threads of the highest priority record before the timer driver has set the epoch */
    const uint64_t time = entry->time < _camkes_epoch[0] ? 0 : camkes_sel4_time_of(entry->time);
    int at = snprintf(text, sizeof(text), "~ %llx %x %x %x", (unsigned long long)time, entry->kind,
                      entry->thread, entry->other);
    for (unsigned i = 0; i < entry->arguments; i++) {
        at += snprintf(text + at, sizeof(text) - (size_t)at, " %llx",
                       (unsigned long long)entry->argument[i]);
    }
    print(text);
    print("\n");
}

/* No other thread runs, and nothing was recorded for a while: the reader gets the current time.
 * This takes the entry, as any record does: a thread that has an older time, and was preempted
 * before it had an entry, asks again. Fails where a thread has the entry and was preempted in the
 * middle. */
static bool tell_time(struct camkes_sel4_trace *trace, uint32_t number)
{
    static uint64_t told;
    const uint64_t ticks = camkes_sel4_read_ticks(), now = camkes_sel4_time_of(ticks);
    if (now < told + CAMKES_IDLE_RECORD_NS ||
        !atomic_compare_exchange_strong(&trace->taken, &number, number + 1)) {
        return false;
    }
    told = now;
    const struct camkes_sel4_trace_entry idle = {.kind = CAMKES_TRACE_IDLE,
                                                 .thread = CAMKES_TRACE_NO_NUMBER,
                                                 .other = CAMKES_TRACE_NO_NUMBER,
                                                 .time = ticks};
    print_entry(&idle);
    return true;
}

static void print_next(struct camkes_sel4_trace *trace, uint32_t number)
{
    struct camkes_sel4_trace_entry *entry = &trace->entry[number % CAMKES_SEL4_TRACE_ENTRIES];
    while (!atomic_load(&entry->full)) {
        if (tell_time(trace, number)) {
            return;
        }
        seL4_Yield();
    }
    const struct camkes_sel4_trace_entry copy = *entry;
    if (atomic_exchange(&trace->lost, 0) > 0) { /* the copy may be of a later record */
        print("~ lost\n");
    }
    print_entry(&copy);
    atomic_store(&entry->full, 0);
}

void _camkes_thread(unsigned index)
{
    (void)index;
    for (uint32_t next = 0;; next++) {
        print_next((struct camkes_sel4_trace *)_camkes_trace, next);
    }
}
