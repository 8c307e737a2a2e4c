/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Locks as the records tell of them: M, H, and cycles of contexts that wait for each other. */
#include "search/search.h"

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

/* ---- words ---- */

const char *oracle_thread_name(unsigned number)
{
    return number < kernel->thread_count ? kernel->threads[number].tcb->name : "no thread";
}

const char *oracle_context_name(unsigned context)
{
    return oracle_system.contexts[context].name;
}

const char *oracle_cpi_name(unsigned cpi)
{
    return oracle_system.cpis[cpi].name;
}

bool oracle_in_plan(uint64_t cpi, uint64_t context)
{
    return cpi < oracle_system.cpi_count && context < oracle_system.context_count;
}

struct oracle_memory *oracle_memory_of(const struct thread *thread)
{
    return &oracle->threads[thread->number];
}

/* ---- locks ---- */

bool oracle_holds(const struct oracle_lock *lock, unsigned context)
{
    for (unsigned i = 0; i < lock->held; i++) {
        if (lock->holders[i] == context) {
            return true;
        }
    }
    return false;
}

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
                         oracle_context_name(context), oracle_cpi_name(cpi),
                         oracle_context_name(lock->holders[0]));
    }
    if (lock->held < MOST_WAITERS) {
        lock->holders[lock->held++] = (uint16_t)context;
    }
}

void oracle_taken(unsigned cpi, unsigned context)
{
    const struct oracle_lock *lock = &oracle->locks[cpi];
    if (lock->queued > 0) {
        oracle_violation('H', "%s takes the lock of %s past %s, which waits for it",
                         oracle_context_name(context), oracle_cpi_name(cpi),
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
                         oracle_cpi_name(cpi), oracle_context_name(context));
        hold(cpi, context);
        return;
    }
    /* a wait further up that its manager is about to make known may count already, or not yet */
    const unsigned first = best(lock, false);
    if (first != place && best(lock, true) != place) {
        const unsigned other = lock->queue[first];
        oracle_violation('H',
                         "the lock of %s goes to %s (priority %u) and not to %s (priority %u%s)",
                         oracle_cpi_name(cpi), oracle_context_name(context),
                         oracle_effective(context, false), oracle_context_name(other),
                         oracle_effective(other, false), first < place ? ", earlier" : "");
    }
    for (unsigned i = place + 1; i < lock->queued; i++) {
        lock->queue[i - 1] = lock->queue[i];
    }
    lock->queue[--lock->queued] = 0;
    hold(cpi, context);
}

/* The holder of the lock that a context waits for, NONE: it waits for none. */
static unsigned waits_for(unsigned context)
{
    for (unsigned i = 0; i < oracle_system.cpi_count; i++) {
        const struct oracle_lock *lock = &oracle->locks[i];
        for (unsigned j = 0; j < lock->queued; j++) {
            if (lock->queue[j] == context && lock->held > 0) {
                return lock->holders[0];
            }
        }
    }
    return NONE;
}

void oracle_waits(unsigned cpi, unsigned context)
{
    struct oracle_lock *lock = &oracle->locks[cpi];
    if (lock->queued < MOST_WAITERS) {
        lock->queue[lock->queued++] = (uint16_t)context;
    }
    unsigned next = waits_for(context);
    for (unsigned i = 0; i <= oracle_system.context_count && next != NONE; i++) {
        if (next == context) {
            oracle_violation('L',
                             "a deadlock: %s waits for a lock that it holds itself, through others",
                             oracle_context_name(context));
        }
        next = waits_for(next);
    }
}

void oracle_freed(unsigned cpi, unsigned context)
{
    struct oracle_lock *lock = &oracle->locks[cpi];
    if (!oracle_holds(lock, context)) {
        oracle_violation('M', "%s frees the lock of %s, which it does not hold",
                         oracle_context_name(context), oracle_cpi_name(cpi));
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
