/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Whose time is used on an MCS kernel: property A, and the part of Z that is about scheduling
 * contexts. Who runs on which context, and for how long, is known from the records of bindings and
 * from the clock; what the kernel charges is compared with it.
 */
#include "isolation/memory.h"
#include "search/search.h"

#include <string.h>

/* The thread that each context belongs to is the one that has it at boot. */
void oracle_budgets_initialise(void)
{
    oracle->budgets = memory_take(kernel->object_count * sizeof *oracle->budgets);
    for (unsigned i = 0; i < kernel->object_count; i++) {
        const struct object *object = &kernel->objects[i];
        const struct thread *thread =
            object->kind == OBJECT_CONTEXT ? object->context->thread : NULL;
        oracle->budgets[i].home = thread ? (uint16_t)thread->number : NONE;
        oracle->budgets[i].holder = oracle->budgets[i].home;
    }
}

static unsigned context_of(unsigned thread)
{
    for (unsigned i = 0; i < kernel->object_count; i++) {
        if (kernel->objects[i].kind == OBJECT_CONTEXT && oracle->budgets[i].holder == thread) {
            return i;
        }
    }
    return NONE;
}

/* Whether a context is the extension of a CPI or task, whose name its own begins with. */
static bool extends(unsigned context, const char *name)
{
    const size_t length = strlen(name);
    const char *own = kernel->objects[context].name;
    return strncmp(own, name, length) == 0 && own[length] == '!';
}

/* Whether the requests of one context wait, directly or not, for a lock that another one holds. */
static bool waits_for(unsigned waiter, unsigned holder, unsigned depth)
{
    for (unsigned i = 0; i < oracle_system.cpi_count && depth <= oracle_system.context_count; i++) {
        const struct oracle_lock *lock = &oracle->locks[i];
        for (unsigned j = 0; j < lock->queued; j++) {
            if (oracle_holds(lock, holder) && lock->queue[j] != holder &&
                (lock->queue[j] == waiter || waits_for(waiter, lock->queue[j], depth + 1))) {
                return true;
            }
        }
    }
    return false;
}

/* A task pays for its own work, in whatever thread, and for what holds a lock that it waits for. */
static bool pays(unsigned context, unsigned thread)
{
    const unsigned home = oracle->budgets[context].home;
    const struct oracle_memory *memory = &oracle->threads[thread];
    const struct oracle_thread *known = &oracle_system.threads[thread];
    if (home == thread || (home == NONE && extends(context, oracle_thread_name(thread)))) {
        return true;
    }
    if (known->role != ORACLE_WORKER) {
        return known->role == ORACLE_INTERFACE; /* without a protocol: on its caller's */
    }
    if (home != NONE) {
        const struct oracle_thread *payer = &oracle_system.threads[home];
        return payer->task != NONE &&
               (payer->task == memory->origin || waits_for(payer->context, memory->request_of, 0));
    }
    for (unsigned at = thread, i = 0; at != NONE && i < kernel->thread_count; i++) {
        const unsigned cpi = oracle_system.threads[at].cpi;
        if (cpi != NONE && extends(context, oracle_cpi_name(cpi))) {
            return true; /* also in what the extended request requests */
        }
        at = oracle->threads[at].sender;
    }
    return false;
}

/* A thread has worked for so many ns. */
void oracle_budgets_worked(unsigned thread, uint64_t time)
{
    if (!kernel->mcs || thread == NONE) {
        return;
    }
    const unsigned context = context_of(thread);
    if (context == NONE) {
        oracle_violation('A', "%s executes without a scheduling context",
                         oracle_thread_name(thread));
        return;
    }
    oracle->budgets[context].used += time;
    if (!pays(context, thread)) {
        oracle_violation('A', "%s executes on %s, whose task neither requests nor waits for it",
                         oracle_thread_name(thread), kernel->objects[context].name);
    }
}

static void charged(unsigned context, uint64_t used)
{
    if (oracle->budgets[context].used != used) {
        oracle_violation('A', "%s is charged %lu ns for %lu ns of work",
                         kernel->objects[context].name, (unsigned long)used,
                         (unsigned long)oracle->budgets[context].used);
    }
    oracle->budgets[context].used = 0;
}

void oracle_budgets_record(uint16_t kind, const struct thread *thread, const uint64_t *args)
{
    if (kind == CAMKES_TRACE_BIND) {
        oracle->budgets[args[0]].holder = thread ? (uint16_t)thread->number : NONE;
    } else if (kind == CAMKES_TRACE_CHARGE && oracle->timed) {
        charged((unsigned)args[0], args[1]);
    }
}

/* L: no thread is left that would give it time. */
void oracle_budgets_idle(void)
{
    for (unsigned i = 0; i < kernel->thread_count && kernel->mcs; i++) {
        if (oracle->threads[i].runnable && context_of(i) == NONE) {
            oracle_violation('L', "%s could execute, but has no scheduling context",
                             oracle_thread_name(i));
        }
    }
}

/* Z: with no request under way each context is where it was at boot. */
void oracle_budgets_residue(void)
{
    for (unsigned i = 0; i < kernel->object_count && kernel->mcs; i++) {
        const struct oracle_budget *budget = &oracle->budgets[i];
        if (kernel->objects[i].kind == OBJECT_CONTEXT && budget->holder != budget->home) {
            oracle_violation('Z', "%s is left with %s", kernel->objects[i].name,
                             oracle_thread_name(budget->holder));
        }
    }
}
