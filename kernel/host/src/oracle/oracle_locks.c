/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Locks as the records tell of them: M, H, and cycles of contexts that wait for each other. */
#include "oracle/oracle.h"

#include <stdio.h>

/* The place in the queue of the highest, of equals the first. */
static unsigned best(const struct oracle_lock *lock, bool settled)
{
    unsigned found = 0, highest = 0;
    for (unsigned i = 0; i < lock->queued; i++) {
        const unsigned priority = oracle_effective(lock->queue[i], settled);
        if (i == 0 || priority > highest) {
            found = i;
            highest = priority;
        }
    }
    return found;
}

static void hold(unsigned cpi, unsigned context)
{
    struct oracle_lock *lock = &oracle->locks[cpi];
    if (lock->held > 0) {
        oracle_violation('M', "%s gets the lock of %s, which %s holds",
                         oracle_context_name(context), oracle_lock_name(cpi),
                         oracle_context_name(lock->holders[0]));
    }
    if (!oracle_holds(lock, context)) {
        lock->holders[lock->held++] = (uint16_t)context;
    }
}

void oracle_taken(unsigned cpi, unsigned context)
{
    const struct oracle_lock *lock = &oracle->locks[cpi];
    if (lock->queued > 0) {
        oracle_violation('H', "%s takes the lock of %s past %s, which waits for it",
                         oracle_context_name(context), oracle_lock_name(cpi),
                         oracle_context_name(lock->queue[best(lock, false)]));
    }
    hold(cpi, context);
}

void oracle_granted(unsigned cpi, unsigned context)
{
    struct oracle_lock *lock = &oracle->locks[cpi];
    unsigned place = 0;
    while (place < lock->queued && lock->queue[place] != context) {
        place++;
    }
    if (place == lock->queued) {
        oracle_violation('H', "the lock of %s goes to %s, which does not wait for it",
                         oracle_lock_name(cpi), oracle_context_name(context));
        hold(cpi, context);
        return;
    }
    /* a wait further up that its manager is about to make known may count already, or not yet */
    const unsigned first = best(lock, false);
    if (first != place && best(lock, true) != place) {
        const unsigned other = lock->queue[first];
        oracle_violation('H',
                         "the lock of %s goes to %s (priority %u) and not to %s (priority %u%s)",
                         oracle_lock_name(cpi), oracle_context_name(context),
                         oracle_effective(context, false), oracle_context_name(other),
                         oracle_effective(other, false), first < place ? ", earlier" : "");
    }
    for (unsigned i = place + 1; i < lock->queued; i++) {
        lock->queue[i - 1] = lock->queue[i];
    }
    lock->queue[--lock->queued] = 0;
    oracle->waiting--;
    hold(cpi, context);
}

/* The holder of the lock that a context waits for, which does more than roll back; NONE: it waits
 * for none. */
static unsigned waits_for(unsigned context)
{
    for (unsigned i = 0; i < oracle_system.cpi_count; i++) {
        const struct oracle_lock *lock = &oracle->locks[i];
        unsigned holder = 0;
        while (holder < lock->held && oracle_rolls_back(i, lock->holders[holder])) {
            holder++;
        }
        for (unsigned j = 0; j < lock->queued && holder < lock->held; j++) {
            if (lock->queue[j] == context) {
                return lock->holders[holder];
            }
        }
    }
    return NONE;
}

static void report_cycle(unsigned count)
{
    char text[400] = "";
    size_t used = 0;
    for (unsigned i = 0; i < count && used < sizeof text; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s waits for ",
                                 oracle_context_name(oracle->reached[i]));
    }
    oracle_violation('L', "a deadlock: %s%s", text, oracle_context_name(oracle->reached[0]));
}

/* Contexts each of which waits for a lock of the next, if that leads back to the first. */
static void check_cycle(unsigned context)
{
    unsigned count = oracle_reach(0, context), next = waits_for(context);
    while (next != NONE && !oracle->marks[next]) {
        count = oracle_reach(count, next);
        next = waits_for(next);
    }
    if (next == context) {
        report_cycle(count);
    }
    oracle_reached(count);
}

void oracle_waits(unsigned cpi, unsigned context)
{
    struct oracle_lock *lock = &oracle->locks[cpi];
    for (unsigned i = 0; i < lock->queued; i++) {
        if (lock->queue[i] == context) {
            return; /* it does already */
        }
    }
    lock->queue[lock->queued++] = (uint16_t)context;
    oracle->waiting++;
    check_cycle(context);
}

void oracle_freed(unsigned cpi, unsigned context)
{
    struct oracle_lock *lock = &oracle->locks[cpi];
    if (!oracle_holds(lock, context)) {
        oracle_violation('M', "%s frees the lock of %s, which it does not hold",
                         oracle_context_name(context), oracle_lock_name(cpi));
        return;
    }
    for (unsigned i = 0; i < lock->held; i++) {
        if (lock->holders[i] == context) {
            lock->holders[i] = lock->holders[--lock->held];
            lock->holders[lock->held] = 0;
            return;
        }
    }
}
