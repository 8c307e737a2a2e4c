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
#include "oracle/oracle.h"

struct oracle *oracle;

static void initialise_locks(void)
{
    const unsigned contexts = oracle_system.context_count;
    oracle->locks = memory_take(oracle_system.cpi_count * sizeof *oracle->locks);
    for (unsigned i = 0; i < oracle_system.cpi_count; i++) {
        oracle->locks[i].holders = memory_take(contexts * sizeof *oracle->locks[i].holders);
        oracle->locks[i].queue = memory_take(contexts * sizeof *oracle->locks[i].queue);
    }
    oracle->bases = memory_take(contexts * sizeof *oracle->bases);
    oracle->reached = memory_take(contexts * sizeof *oracle->reached);
    oracle->marks = memory_take(contexts * sizeof *oracle->marks);
}

void oracle_initialise(void)
{
    oracle = memory_take(sizeof *oracle);
    oracle->threads = memory_take(oracle_system.thread_count * sizeof *oracle->threads);
    initialise_locks();
    oracle_set_criticality(0);
    oracle->blocked = memory_take(oracle_system.limit_count * sizeof *oracle->blocked);
    oracle->budgets = memory_take(oracle_system.object_count * sizeof *oracle->budgets);
    oracle->running = oracle->restarting = oracle->domain = NONE;
    oracle->message.sender = NONE;
    for (unsigned i = 0; i < oracle_system.object_count; i++) {
        oracle->budgets[i].home = oracle->budgets[i].holder = NONE;
    }
    for (unsigned i = 0; i < oracle_system.thread_count; i++) {
        const struct oracle_thread *known = &oracle_system.threads[i];
        oracle->threads[i] = (struct oracle_memory){.priority = known->base,
                                                    .runnable = true,
                                                    .request_cpi = NONE,
                                                    .request_of = NONE,
                                                    .leaves = NONE,
                                                    .call_cpi = NONE,
                                                    .receiver = NONE,
                                                    .sender = NONE,
                                                    .waits_for = NONE,
                                                    .waits_as = NONE,
                                                    .origin = NONE,
                                                    .timeless = oracle_system.mcs,
                                                    .budget = NONE,
                                                    .partly = NONE,
                                                    .client = NONE,
                                                    .kept_lock = NONE,
                                                    .kept_by = NONE};
    }
    for (unsigned i = 0; i < oracle_system.turn_count; i++) { /* before the first job */
        const struct oracle_turn *turn = &oracle_system.turns[i];
        const unsigned control = oracle_system.contexts[turn->context].control;
        if (control != NONE) {
            oracle->threads[control].turn = turn->highest;
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
        if (raised->level <= level) {
            oracle->bases[raised->context] = raised->base;
        }
    }
}

bool oracle_holds(const struct oracle_lock *lock, unsigned context)
{
    for (unsigned i = 0; i < lock->held; i++) {
        if (lock->holders[i] == context) {
            return true;
        }
    }
    return false;
}

/* Whether a context has a lock for the roll-back of its request alone. */
bool oracle_rolls_back(unsigned lock, unsigned context)
{
    for (unsigned i = 0; oracle_system.mcs && i < oracle_system.thread_count; i++) {
        if (oracle->threads[i].kept_lock == lock && oracle->threads[i].kept_by == context) {
            return true;
        }
    }
    return false;
}

/* Whether the manager of a CPI has taken a message and not yet waits for the next. */
static bool is_busy(unsigned cpi)
{
    for (unsigned i = 0; i < oracle_system.thread_count; i++) {
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

unsigned oracle_reach(unsigned count, unsigned context)
{
    if (oracle->marks[context]) {
        return count;
    }
    oracle->marks[context] = true;
    oracle->reached[count] = (uint16_t)context;
    return count + 1;
}

void oracle_reached(unsigned count)
{
    while (count > 0) {
        count--;
        oracle->marks[oracle->reached[count]] = false;
        oracle->reached[count] = 0;
    }
}

/* What a context has by itself. */
static unsigned own(unsigned context)
{
    const unsigned control = oracle_system.contexts[context].control;
    const unsigned turn = control == NONE ? 0 : oracle->threads[control].request_turn;
    return turn > oracle->bases[context] ? turn : oracle->bases[context];
}

/* Adds those that wait for what this one holds or helps to end. */
static unsigned reach_waiters(unsigned count, unsigned context, bool settled)
{
    for (unsigned i = 0; i < oracle_system.cpi_count; i++) {
        const struct oracle_lock *lock = &oracle->locks[i];
        if (lock->queued == 0 || !oracle_holds(lock, context) ||
            oracle_system.cpis[i].own_priority || oracle_rolls_back(i, context) ||
            (settled && is_busy(i))) {
            continue; /* or it is at the ceiling, whoever waits */
        }
        for (unsigned j = 0; j < lock->queued; j++) {
            count = oracle_reach(count, lock->queue[j]);
        }
    }
    for (unsigned i = 0; oracle_system.contexts[context].helps && i < oracle_system.thread_count;
         i++) {
        const struct oracle_memory *waiter = &oracle->threads[i];
        if (waiter->waits_for != NONE && waiter->waits_as != context &&
            helps(context, waiter->waits_for)) {
            count = oracle_reach(count, waiter->waits_as);
        }
    }
    return count;
}

/* `settled`: without what a manager, which is at it, may not have made known yet. */
unsigned oracle_effective(unsigned context, bool settled)
{
    unsigned highest = own(context);
    if (oracle->waiting == 0) {
        return highest;
    }
    unsigned count = oracle_reach(0, context);
    for (unsigned i = 0; i < count; i++) {
        const unsigned priority = own(oracle->reached[i]);
        highest = priority > highest ? priority : highest;
        count = reach_waiters(count, oracle->reached[i], settled);
    }
    oracle_reached(count);
    return highest;
}

/* The highest of those that wait for the lock of the request that a worker rolls back. */
static unsigned awaited(const struct oracle_memory *memory)
{
    unsigned highest = 0;
    const struct oracle_lock *lock =
        memory->kept_lock == NONE ? NULL : &oracle->locks[memory->kept_lock];
    for (unsigned i = 0; lock && i < lock->queued; i++) {
        const unsigned priority = oracle_effective(lock->queue[i], false);
        highest = priority > highest ? priority : highest;
    }
    return highest;
}

/* A worker that was never sent a request still starts, and has no client. What wakes it then is a
 * message of the control thread of its own component. */
static bool has_begun(const struct oracle_thread *known, const struct oracle_memory *memory)
{
    const struct oracle_thread *sender =
        memory->sender == NONE ? NULL : &oracle_system.threads[memory->sender];
    return sender && (sender->role == ORACLE_WORKER || sender->context == known->context);
}

static unsigned expected_of_worker(const struct oracle_thread *known,
                                   const struct oracle_memory *memory)
{
    const struct oracle_cpi *cpi = &oracle_system.cpis[known->cpi];
    if (cpi->own_priority) {
        return cpi->ceiling;
    }
    if (memory->answered || memory->request_of != NONE) {
        const unsigned waiting = awaited(memory);
        const unsigned mine =
            memory->answered ? memory->priority : oracle_effective(memory->request_of, false);
        return waiting > mine ? waiting : mine;
    }
    if (memory->leaves != NONE) {
        return oracle_effective(memory->leaves, false);
    }
    if (cpi->pooled || (cpi->binds && memory->priority == cpi->ceiling)) {
        return cpi->ceiling;
    }
    return known->context == NONE || !has_begun(known, memory)
               ? memory->priority
               : oracle_effective(known->context, false);
}

/* The priority that a thread should have now. */
int oracle_expected(unsigned thread)
{
    const struct oracle_thread *known = &oracle_system.threads[thread];
    const struct oracle_memory *memory = &oracle->threads[thread];
    if (known->role == ORACLE_CONTROL && known->context != NONE) {
        const bool helps = oracle_system.contexts[known->context].helps;
        const unsigned alone = memory->turn != 0 ? memory->turn : oracle->bases[known->context];
        return (int)(helps ? oracle_effective(known->context, false) : alone);
    }
    if (known->role == ORACLE_MANAGER && known->cpi != NONE) {
        return known->base; /* the ceiling of the CPI, or of what lending connects with it */
    }
    if (known->role == ORACLE_WORKER && known->cpi != NONE) {
        return (int)expected_of_worker(known, memory);
    }
    return memory->priority;
}
