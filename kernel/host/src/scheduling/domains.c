/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Scheduling domains: a schedule gives each domain the processor for a time, one after the other
 * and again from the first. In its slot only threads of a domain run, even where that leaves it
 * idle. Time slices stand still while a domain has no slot; budgets are refilled by the clock.
 *
 * A slot ends when a thread wants time to pass at its end, or none can run: what a thread does in
 * no time at the end of its work belongs to the work. Then the switch is the first that happens.
 */
#include "isolation/memory.h"
#include "record/output.h"
#include "scheduling/scheduling.h"
#include "state.h"

/* The queues of a domain, made when the table names it for the first time. */
struct ready *domain_queues(uint8_t domain)
{
    if (!kernel->domains[domain]) {
        kernel->domains[domain] = memory_take(sizeof(struct ready));
    }
    return kernel->domains[domain];
}

/* When the table is read, before threads are ready. */
void domain_initialise(void)
{
    const struct slot *first = kernel->slot_count ? kernel->slots : NULL;
    kernel->ready = first ? first->ready : domain_queues(0);
    kernel->slot_end = first ? first->length : UINT64_MAX;
}

void domain_show(void)
{
    if (kernel->slot_count) {
        const struct slot *slot = &kernel->slots[kernel->slot];
        TRACE(SLOT, NULL, NULL, slot->domain, kernel->slot_end - slot->length);
    }
}

/* To the slot of this instant. Whether another domain has the processor now. */
bool domain_switch_due(void)
{
    if (kernel->now < kernel->slot_end || kernel->now >= kernel->options.until) {
        return false;
    }
    do {
        kernel->slot = (kernel->slot + 1) % kernel->slot_count;
        kernel->slot_end += kernel->slots[kernel->slot].length;
    } while (kernel->now >= kernel->slot_end);
    struct ready *next = kernel->slots[kernel->slot].ready;
    if (next == kernel->ready) {
        return false;
    }
    const struct thread *current = kernel->current;
    if (kernel->options.round_robin && current && current->state == THREAD_RUNNING &&
        current->slice == 0) {
        ready_end_slice();
    } else {
        ready_again();
    }
    kernel->ready = next;
    domain_show();
    return true;
}

static bool is_ready(const struct ready *domain)
{
    for (unsigned i = 0; i < PRIORITIES / 64; i++) {
        if (domain->bitmap[i]) {
            return true;
        }
    }
    return false;
}

/* When the slot ends, if a thread runs in it or is ready for another one. */
uint64_t domain_next(void)
{
    if (kernel->current || kernel->slot_end == UINT64_MAX) {
        return kernel->slot_end;
    }
    for (unsigned i = 0; i < kernel->slot_count; i++) {
        if (is_ready(kernel->slots[i].ready)) {
            return kernel->slot_end;
        }
    }
    return UINT64_MAX;
}
