/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Holders of locks, waiting threads, and what follows. Nothing here comes from the runtime's own
 * account of inheritance: effective priorities are computed anew from their definition,
 *
 *     eff(o) = max(base(o), max { eff(w) : w waits for a lock that o holds, or for what o helps to
 *                                          end })
 */
#include "isolation/memory.h"
#include "record/output.h"
#include "search/search.h"

struct oracle *oracle;

void oracle_initialise(void)
{
    oracle = memory_take(sizeof *oracle);
    oracle->threads = memory_take(kernel->thread_count * sizeof *oracle->threads);
    oracle->locks = memory_take(oracle_system.cpi_count * sizeof *oracle->locks);
    oracle->bases = memory_take(oracle_system.context_count * sizeof *oracle->bases);
    oracle_set_criticality(0);
    oracle->blocked = memory_take(oracle_system.limit_count * sizeof *oracle->blocked);
    oracle->running = NONE;
    oracle->timed = !kernel->options.arrivals;
    for (unsigned i = 0; i < kernel->thread_count; i++) {
        oracle->threads[i] = (struct oracle_memory){.priority = kernel->threads[i].priority,
                                                    .runnable = true,
                                                    .request_cpi = NONE,
                                                    .request_of = NONE,
                                                    .leaves = NONE,
                                                    .call_cpi = NONE,
                                                    .receiver = NONE,
                                                    .sender = NONE,
                                                    .waits_for = NONE,
                                                    .waits_as = NONE,
                                                    .origin = NONE};
        const struct oracle_thread *known = &oracle_system.threads[i];
        if (known->role == ORACLE_CONTROL && known->context != NONE &&
            known->base > oracle->bases[known->context]) {
            oracle->threads[i].turn = known->base; /* of a task of a band, before its first job */
        }
    }
}

void oracle_set_criticality(uint64_t level)
{
    for (unsigned i = 0; i < oracle_system.context_count; i++) {
        oracle->bases[i] = oracle_system.contexts[i].base;
    }
    for (unsigned i = 0; i < oracle_system.raised_count; i++) {
        const struct oracle_raised *raised = &oracle_system.raised[i];
        if (raised->level == level) {
            oracle->bases[raised->context] = raised->base;
        }
    }
}

/* The memory of the control thread of the task that a context is, NULL: it is a CPI. */
struct oracle_memory *oracle_control_of(uint64_t context)
{
    for (unsigned i = 0; i < kernel->thread_count; i++) {
        const struct oracle_thread *known = &oracle_system.threads[i];
        if (known->role == ORACLE_CONTROL && known->context == context) {
            return &oracle->threads[i];
        }
    }
    return NULL;
}

/* Whether the manager of a CPI has taken a message and not yet waits for the next. */
static bool is_busy(unsigned cpi)
{
    for (unsigned i = 0; i < kernel->thread_count; i++) {
        if (oracle_system.threads[i].role == ORACLE_MANAGER &&
            oracle_system.threads[i].cpi == cpi) {
            return oracle->threads[i].reason != CAMKES_BLOCK_RECV &&
                   oracle->threads[i].reason != CAMKES_BLOCK_NOTIFICATION;
        }
    }
    return false;
}

static bool helps(unsigned context, unsigned condition)
{
    for (unsigned i = 0; i < oracle_system.helper_count; i++) {
        const struct oracle_helper *helper = &oracle_system.helpers[i];
        if (helper->context == context && helper->condition == condition) {
            return true;
        }
    }
    return false;
}

/* Whether a task can be lent priorities. */
static bool is_helper(unsigned context)
{
    for (unsigned i = 0; i < oracle_system.helper_count; i++) {
        if (oracle_system.helpers[i].context == context) {
            return true;
        }
    }
    return false;
}

static unsigned effective(unsigned context, bool settled, unsigned depth)
{
    const struct oracle_memory *control = oracle_control_of(context);
    const unsigned turn = control != NULL ? control->request_turn : 0;
    unsigned value = turn > oracle->bases[context] ? turn : oracle->bases[context];
    if (depth > oracle_system.context_count) {
        return value; /* a cycle of lending, or a deadlock, which is reported as such */
    }
    for (unsigned i = 0; i < oracle_system.cpi_count; i++) {
        const struct oracle_lock *lock = &oracle->locks[i];
        if (lock->queued == 0 || lock->held == 0 || lock->holders[0] != context ||
            oracle_system.cpis[i].own_priority || (settled && is_busy(i))) {
            continue; /* or it is at the ceiling, whoever waits */
        }
        for (unsigned j = 0; j < lock->queued; j++) {
            const unsigned other = effective(lock->queue[j], settled, depth + 1);
            value = other > value ? other : value;
        }
    }
    for (unsigned i = 0; i < kernel->thread_count; i++) {
        const struct oracle_memory *waiter = &oracle->threads[i];
        if (waiter->waits_for != NONE && waiter->waits_as != context &&
            helps(context, waiter->waits_for)) {
            const unsigned other = effective(waiter->waits_as, settled, depth + 1);
            value = other > value ? other : value;
        }
    }
    return value;
}

/* `settled`: without what a manager, which is at it, may not have made known yet. */
unsigned oracle_effective(unsigned context, bool settled)
{
    return effective(context, settled, 0);
}

/* The priority that a thread should have now. */
int oracle_expected(const struct thread *thread)
{
    const struct oracle_thread *known = &oracle_system.threads[thread->number];
    const struct oracle_memory *memory = &oracle->threads[thread->number];
    if (memory->turn != 0) {
        return memory->turn;
    }
    if (known->role == ORACLE_CONTROL && known->context != NONE && is_helper(known->context)) {
        return (int)oracle_effective(known->context, false);
    }
    if (known->role == ORACLE_CONTROL && known->task != NONE && known->context != NONE) {
        return oracle->bases[known->context];
    }
    if (known->cpi == NONE) {
        return memory->priority;
    }
    const struct oracle_cpi *cpi = &oracle_system.cpis[known->cpi];
    if (known->role == ORACLE_MANAGER) {
        return known->base; /* the ceiling of the CPI, or of what lending connects with it */
    }
    if (known->role == ORACLE_WORKER && cpi->own_priority) {
        return cpi->ceiling;
    }
    if (known->role == ORACLE_WORKER) {
        if (memory->request_of != NONE) {
            return (int)oracle_effective(memory->request_of, false);
        }
        if (memory->leaves != NONE) {
            return (int)oracle_effective(memory->leaves, false);
        }
        if (cpi->pooled) {
            return cpi->ceiling;
        }
        if (known->context != NONE) {
            return (int)oracle_effective(known->context, false);
        }
    }
    return memory->priority;
}
