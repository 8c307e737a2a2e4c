/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Whose time is used on an MCS kernel: property A, and the part of Z that is about scheduling
 * contexts. A task pays for its own work, in whatever thread, and for what holds a lock with the
 * policy `help` that it waits for; an extension only for its CPI or task. Each context is charged
 * for exactly that, and no policy takes the end of a part of a budget for the end of the budget.
 */
#include "oracle/oracle.h"

#include <string.h>

/* Whether a context is the extension of a CPI or task, whose name its own begins with. */
static bool extends(unsigned context, const char *name)
{
    const size_t length = strlen(name);
    const char *own = oracle_system.objects[context];
    return strncmp(own, name, length) == 0 && own[length] == '!';
}

/* ---- waiting tasks ---- */

/* The worker whose requests have a context, which is that of a fixed CPI. */
static unsigned served_by(unsigned context)
{
    for (unsigned i = 0; i < oracle_system.thread_count; i++) {
        if (oracle->threads[i].request_cpi != NONE && oracle_system.threads[i].context == context) {
            return i;
        }
    }
    return NONE;
}

/* Whether a context holds a lock, or if it is one of a fixed CPI its caller does, and so on. */
static bool chain_holds(const struct oracle_lock *lock, unsigned context)
{
    for (unsigned i = 0; i < oracle_system.context_count; i++) {
        if (oracle_holds(lock, context)) {
            return true;
        }
        const unsigned worker = served_by(context);
        if (worker == NONE) {
            return false;
        }
        context = oracle->threads[worker].request_of;
    }
    return false;
}

/* Whose time the requests of a context use: those of a fixed CPI use that of its caller. */
static unsigned task_of(unsigned context)
{
    for (unsigned i = 0; i < oracle_system.task_count; i++) {
        if (oracle_system.tasks[i].context == context) {
            return oracle_system.tasks[i].id;
        }
    }
    const unsigned worker = served_by(context);
    return worker == NONE ? NONE : oracle->threads[worker].origin;
}

static unsigned reach_waiters(unsigned count, unsigned holder)
{
    for (unsigned i = 0; i < oracle_system.cpi_count; i++) {
        const struct oracle_lock *lock = &oracle->locks[i];
        if (!oracle_system.cpis[i].helps || lock->queued == 0 || !chain_holds(lock, holder)) {
            continue;
        }
        for (unsigned j = 0; j < lock->queued; j++) {
            count = oracle_reach(count, lock->queue[j]);
        }
    }
    return count;
}

/* Whether a task waits for a lock that a context holds, directly or not. */
static bool waits_for(unsigned task, unsigned context)
{
    bool found = false;
    unsigned count = reach_waiters(0, context);
    for (unsigned i = 0; i < count && !found; i++) {
        found = task_of(oracle->reached[i]) == task;
        count = reach_waiters(count, oracle->reached[i]);
    }
    oracle_reached(count);
    return found;
}

/* ---- who pays ---- */

static bool task_pays(unsigned task, unsigned worker)
{
    const struct oracle_memory *memory = &oracle->threads[worker];
    return task != NONE && (task == memory->origin || waits_for(task, memory->request_of));
}

/* An extension pays as its task does, or the tasks whose requests its CPI serves. */
static bool extension_pays(unsigned context, unsigned worker)
{
    for (unsigned i = 0; i < oracle_system.task_count; i++) {
        const struct oracle_task *task = &oracle_system.tasks[i];
        if (extends(context, task->name) && task_pays(task->id, worker)) {
            return true;
        }
    }
    for (unsigned i = 0; i < oracle_system.thread_count; i++) {
        const struct oracle_memory *server = &oracle->threads[i];
        if (server->request_cpi != NONE && extends(context, oracle_cpi_name(server->request_cpi)) &&
            task_pays(server->origin, worker)) {
            return true;
        }
    }
    return false;
}

static bool pays(unsigned context, unsigned thread)
{
    const unsigned home = oracle->budgets[context].home;
    const struct oracle_memory *memory = &oracle->threads[thread];
    const struct oracle_thread *known = &oracle_system.threads[thread];
    if (home == thread || (home == NONE && extends(context, known->name))) {
        return true;
    }
    if (memory->aborted && home == NONE && known->cpi != NONE &&
        extends(context, oracle_cpi_name(known->cpi))) {
        return true; /* it rolls back, perhaps without having begun */
    }
    if (known->role != ORACLE_WORKER || memory->request_cpi == NONE) {
        return known->role == ORACLE_INTERFACE; /* without a protocol: on its caller's */
    }
    return home == NONE ? extension_pays(context, thread)
                        : task_pays(oracle_system.threads[home].task, thread);
}

/* A thread has worked for so many ns. */
void oracle_budgets_worked(unsigned thread, uint64_t time)
{
    if (!oracle_system.mcs || thread == NONE) {
        return;
    }
    const unsigned context = oracle->threads[thread].budget;
    if (context == NONE) {
        oracle_violation('A', "%s executes without a scheduling context",
                         oracle_thread_name(thread));
        return;
    }
    oracle->budgets[context].used += time;
    if (!pays(context, thread)) {
        oracle_violation('A', "%s executes on %s, whose task neither requests nor waits for it",
                         oracle_thread_name(thread), oracle_system.objects[context]);
    }
}

static void charged(unsigned context, const uint64_t *args)
{
    struct oracle_budget *budget = &oracle->budgets[context];
    if (budget->used != args[1]) {
        oracle_violation('A', "%s is charged %lu ns for %lu ns of work",
                         oracle_system.objects[context], (unsigned long)args[1],
                         (unsigned long)budget->used);
    }
    budget->used = 0;
    budget->left = args[2] != 0;
}

/* ---- where scheduling contexts are ---- */

static void bound(unsigned context, unsigned thread, unsigned by, uint64_t how)
{
    struct oracle_budget *budget = &oracle->budgets[context];
    if (budget->holder != NONE) {
        struct oracle_memory *holder = &oracle->threads[budget->holder];
        holder->budget = holder->budget == context ? NONE : holder->budget;
        holder->timeless = true;
    }
    budget->holder = NONE;
    if (thread != NONE && how != CAMKES_BIND_UNBOUND) {
        struct oracle_memory *memory = &oracle->threads[thread];
        memory->budget = memory->budget == NONE ? (uint16_t)context : memory->budget;
        memory->timeless = budget->postponed;
        budget->holder = (uint16_t)thread;
        if (by == NONE && how == CAMKES_BIND_BOUND) {
            budget->home = (uint16_t)thread;
        }
    }
}

static void postponed(unsigned context, bool waits)
{
    struct oracle_budget *budget = &oracle->budgets[context];
    budget->postponed = waits;
    if (budget->holder != NONE) {
        oracle->threads[budget->holder].timeless = waits;
    }
}

/* ---- records ---- */

/* Whether a record is of a message, or of what shows that the last one was not called. */
static void of_message(uint16_t kind, unsigned thread, unsigned other, const uint64_t *args)
{
    struct oracle_message *last = &oracle->message;
    const bool next =
        kind == CAMKES_TRACE_TRANSFER || kind == CAMKES_TRACE_SWITCH || kind == CAMKES_TRACE_IDLE;
    const bool transfers = kind == CAMKES_TRACE_TRANSFER && thread != NONE && other != NONE;
    if (transfers) {
        oracle->threads[other].unpaid = false;
    }
    if (next && last->sender != NONE) {
        oracle->threads[last->receiver].unpaid = true;
        *last = (struct oracle_message){.sender = NONE};
    }
    if (transfers) {
        const uint16_t object = (uint16_t)(args[0] < NONE ? args[0] : NONE);
        *last = (struct oracle_message){(uint16_t)thread, (uint16_t)other, object};
    } else if (kind == CAMKES_TRACE_BLOCK && thread != NONE && thread == last->sender &&
               (args[0] == CAMKES_BLOCK_REPLY || args[0] == CAMKES_BLOCK_FAULT) &&
               args[1] == last->object) {
        *last = (struct oracle_message){.sender = NONE};
    }
}

/* A thread whose budget is not used up gets other time, or its job is stopped. */
static void check_early(uint16_t kind, unsigned thread, unsigned other, const uint64_t *args)
{
    const unsigned about = kind == CAMKES_TRACE_JOB_STOP ? other : thread;
    const unsigned part = about == NONE ? NONE : oracle->threads[about].partly;
    const bool stopped = kind == CAMKES_TRACE_JOB_STOP;
    const bool given = kind == CAMKES_TRACE_BIND && args[1] == CAMKES_BIND_BOUND && args[0] != part;
    if (part != NONE && (stopped || given)) {
        oracle_violation('A', "%s has overrun, but %s has budget", oracle_thread_name(about),
                         oracle_system.objects[part]);
    }
}

static void of_context(uint16_t kind, unsigned thread, unsigned other, const uint64_t *args)
{
    const unsigned context = (unsigned)args[0];
    switch (kind) {
    case CAMKES_TRACE_CHARGE:
        if (oracle_system.timed) {
            charged(context, args);
        }
        break;
    case CAMKES_TRACE_TIMEOUT:
        if (thread != NONE && oracle->budgets[context].left) {
            oracle->threads[thread].partly = (uint16_t)context;
        }
        break;
    case CAMKES_TRACE_BIND:
        bound(context, thread, other, args[1]);
        break;
    case CAMKES_TRACE_POSTPONE:
    case CAMKES_TRACE_RELEASE:
        postponed(context, kind == CAMKES_TRACE_POSTPONE);
        break;
    default:
        break;
    }
}

/* Where nothing executes, each thread that could has a scheduling context, whose refill it waits
 * for. Workers that were aborted wait for the extension of their CPI, or for the way home; what
 * received a message that was sent has no time, which is reported of the sender (E0807). */
static void check_idle(void)
{
    for (unsigned i = 0; i < oracle_system.thread_count; i++) {
        const struct oracle_memory *memory = &oracle->threads[i];
        if (memory->awake && !memory->aborted && !memory->unpaid && memory->budget == NONE) {
            oracle_violation('A', "%s could execute, but has no scheduling context",
                             oracle_thread_name(i));
        }
    }
}

void oracle_budgets_record(uint16_t kind, unsigned thread, unsigned other, const uint64_t *args)
{
    if (!oracle_system.mcs) {
        return;
    }
    if (thread != NONE) {
        oracle_way_home(kind, thread, other, args);
    }
    of_message(kind, thread, other, args);
    check_early(kind, thread, other, args);
    if (kind >= CAMKES_TRACE_BUDGET && kind <= CAMKES_TRACE_TIMEOUT &&
        args[0] < oracle_system.object_count) {
        of_context(kind, thread, other, args);
    }
    if (kind == CAMKES_TRACE_IDLE) {
        check_idle();
    } else if (thread == NONE) {
        return;
    } else if (kind == CAMKES_TRACE_SWITCH || kind == CAMKES_TRACE_READY) {
        oracle->threads[thread].awake = true;
        oracle->threads[thread].partly =
            kind == CAMKES_TRACE_SWITCH ? NONE : oracle->threads[thread].partly;
    } else if (kind == CAMKES_TRACE_BLOCK || kind == CAMKES_TRACE_FAULT ||
               kind == CAMKES_TRACE_EXIT) {
        oracle->threads[thread].awake = false;
    }
}

/* Z: with no request under way each context is where it was at boot. */
void oracle_budgets_residue(void)
{
    for (unsigned i = 0; i < oracle_system.object_count && oracle_system.mcs; i++) {
        const struct oracle_budget *budget = &oracle->budgets[i];
        if (budget->home != NONE && budget->holder != budget->home) {
            oracle_violation('Z', "the scheduling context of %s is not back",
                             oracle_thread_name(budget->home));
        }
    }
}
