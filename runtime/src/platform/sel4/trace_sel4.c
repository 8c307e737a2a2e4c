/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The ring of trace records on seL4, written by all threads of an address space. */
#include "trace_sel4.h"

#include "clock_sel4.h"
#include "image_sel4.h"

#include <camkes/platform.h>
#include <camkes/tls.h>
#include <string.h>

/* Aligned to large frames of every architecture; see kernel/sel4/aligned.lds. */
char _camkes_trace[CAMKES_SEL4_TRACE_BYTES]
    __attribute__((aligned(CAMKES_SEL4_TRACE_BYTES), section("align_22bit"), used));

/* The next entry, and its time. A thread that was preempted in between by one that took an entry
 * asks for the time again, so times follow the order of the entries. */
static struct camkes_sel4_trace_entry *take(struct camkes_sel4_trace *trace, uint64_t *time)
{
    uint32_t number = atomic_load(&trace->taken);
    do {
        *time = camkes_sel4_read_ticks();
    } while (!atomic_compare_exchange_strong(&trace->taken, &number, number + 1));
    struct camkes_sel4_trace_entry *entry = &trace->entry[number % CAMKES_SEL4_TRACE_ENTRIES];
    if (atomic_load(&entry->full)) {
        atomic_fetch_add(&trace->lost, 1); /* overwritten before it was printed */
    }
    return entry;
}

/* The number of the running thread. That of a driver or a fault handler, which have no record in
 * the runtime, is with its stack. */
static uint16_t own_number(void)
{
    const struct camkes_thread *self = camkes_self();
    if (self != NULL) {
        return self->number;
    }
    const unsigned index = camkes_get_tls()->thread_index;
    return index > 0 ? camkes_sel4_image.threads[index - 1].number : CAMKES_TRACE_NO_NUMBER;
}

static void record(uint8_t kind, uint16_t other, unsigned count, const uint64_t *arguments)
{
    uint64_t time;
    struct camkes_sel4_trace_entry *entry = take((struct camkes_sel4_trace *)_camkes_trace, &time);
    entry->kind = kind;
    entry->thread = own_number();
    entry->other = other;
    entry->time = time;
    entry->arguments = (uint8_t)count;
    if (count > 0) {
        (void)memcpy(entry->argument, arguments, count * sizeof(*arguments));
    }
    atomic_store(&entry->full, 1);
}

void camkes_sel4_trace(uint16_t kind, uint16_t other, unsigned count, const uint64_t *arguments)
{
    record((uint8_t)kind, other,
           count < CAMKES_SEL4_TRACE_ARGUMENTS ? count : CAMKES_SEL4_TRACE_ARGUMENTS, arguments);
}

void camkes_sel4_enters(unsigned operation, seL4_CPtr slot, seL4_Word word, seL4_Word second,
                        seL4_Word third)
{
    const uint64_t arguments[] = {operation, slot, word, second, third};
    record(CAMKES_TRACE_KCALL, CAMKES_TRACE_NO_NUMBER,
           third    ? 5
           : second ? 4
           : word   ? 3
                    : 2,
           arguments);
}

void camkes_sel4_returns(void)
{
    record(CAMKES_SEL4_TRACE_RETURN, CAMKES_TRACE_NO_NUMBER, 0, NULL);
}

void camkes_sel4_failed(void)
{
    record(CAMKES_SEL4_TRACE_FAILED, CAMKES_TRACE_NO_NUMBER, 0, NULL);
}

void camkes_sel4_trace_gap(uint64_t from, uint64_t to)
{
    const uint64_t arguments[] = {from, to};
    record(CAMKES_SEL4_TRACE_GAP, CAMKES_TRACE_NO_NUMBER, 2, arguments);
}

void camkes_sel4_trace_text(const char *text, size_t length)
{
    const size_t most = (CAMKES_SEL4_TRACE_ARGUMENTS - 1) * sizeof(uint64_t);
    while (length > 0) {
        const size_t part = length < most ? length : most;
        uint64_t arguments[CAMKES_SEL4_TRACE_ARGUMENTS] = {part};
        (void)memcpy((char *)&arguments[1], text, part);
        record(CAMKES_TRACE_OUTPUT, CAMKES_TRACE_NO_NUMBER, CAMKES_SEL4_TRACE_ARGUMENTS, arguments);
        text += part;
        length -= part;
    }
}
