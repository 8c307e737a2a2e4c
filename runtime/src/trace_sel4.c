/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include "trace_sel4.h"

#include "clock_sel4.h"

#include <camkes/platform.h>
#include <string.h>

char _camkes_trace[CAMKES_SEL4_TRACE_BYTES] __attribute__((aligned(4096), used));

static struct camkes_sel4_trace_entry *take(struct camkes_sel4_trace *trace)
{
    struct camkes_sel4_trace_entry *entry =
        &trace->entry[atomic_fetch_add(&trace->taken, 1) % CAMKES_SEL4_TRACE_ENTRIES];
    if (atomic_load(&entry->full)) {
        atomic_fetch_add(&trace->lost, 1); /* overwritten before it was printed */
    }
    return entry;
}

static void record(uint8_t kind, uint16_t other, unsigned count, const uint64_t *arguments)
{
    struct camkes_sel4_trace_entry *entry = take((struct camkes_sel4_trace *)_camkes_trace);
    const struct camkes_thread *self = camkes_self();
    entry->kind = kind;
    entry->thread = self != NULL ? self->number : CAMKES_TRACE_NO_NUMBER;
    entry->other = other;
    entry->time = camkes_sel4_now();
    entry->arguments = (uint8_t)count;
    memcpy(entry->argument, arguments, count * sizeof(*arguments));
    atomic_store(&entry->full, 1);
}

void camkes_sel4_trace(uint16_t kind, uint16_t other, unsigned count, const uint64_t *arguments)
{
    record((uint8_t)kind, other,
           count < CAMKES_SEL4_TRACE_ARGUMENTS ? count : CAMKES_SEL4_TRACE_ARGUMENTS, arguments);
}

void camkes_sel4_trace_text(const char *text, size_t length)
{
    const size_t most = (CAMKES_SEL4_TRACE_ARGUMENTS - 1) * sizeof(uint64_t);
    while (length > 0) {
        const size_t part = length < most ? length : most;
        uint64_t arguments[CAMKES_SEL4_TRACE_ARGUMENTS] = {part};
        memcpy(&arguments[1], text, part);
        record(CAMKES_TRACE_OUTPUT, CAMKES_TRACE_NO_NUMBER, CAMKES_SEL4_TRACE_ARGUMENTS, arguments);
        text += part;
        length -= part;
    }
}
