/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Checks the properties M P H B L Z S A, and deadlines (D), at every record of a schedule; docs/
 * protocols.md says what they are. P is checked whenever threads are switched, and again before the
 * thread that runs works: a protocol step is several records at one instant, and between them a
 * thread's priority in the kernel may not have its final value yet.
 */
#include "oracle/oracle.h"

/* A thread of a pool has the ceiling until its manager begins the request. */
static int expected_to_run(unsigned thread)
{
    const struct oracle_memory *memory = &oracle->threads[thread];
    return memory->arrives ? memory->priority : oracle_expected(thread);
}

/* Whether a thread waits for a slot of its domain. */
static bool has_no_slot(unsigned thread)
{
    return oracle->domain != NONE && oracle_system.threads[thread].domain != oracle->domain;
}

/* P: no thread that could run should have a higher priority than the one that does; threads of
 * other domains cannot. */
static void check_choice(void)
{
    if (!oracle->started) {
        return;
    }
    const unsigned running = (unsigned)oracle->running;
    if (running != NONE && has_no_slot(running)) {
        oracle_violation('P', "%s runs in a slot of domain %u", oracle_thread_name(running),
                         oracle->domain);
    }
    const int mine = running == NONE ? -1 : expected_to_run(running);
    for (unsigned i = 0; i < oracle_system.thread_count; i++) {
        if (i == running || !oracle->threads[i].runnable || oracle->threads[i].timeless ||
            has_no_slot(i)) {
            continue;
        }
        const int other = oracle_expected(i);
        if (other > mine && running == NONE) {
            oracle_violation('P', "no thread runs while %s (priority %d) could",
                             oracle_thread_name(i), other);
        } else if (other > mine) {
            oracle_violation('P', "%s (priority %d) runs while %s (priority %d) could",
                             oracle_thread_name(running), mine, oracle_thread_name(i), other);
        }
    }
}

/* M: who executes in a CPI with a lock that contexts can contend for holds it. */
static void check_inside(unsigned thread)
{
    const struct oracle_memory *memory = &oracle->threads[thread];
    if (memory->request_cpi == NONE) {
        return;
    }
    const struct oracle_cpi *cpi = &oracle_system.cpis[memory->request_cpi];
    if (cpi->locks && cpi->contended &&
        !oracle_holds(&oracle->locks[cpi->lock], memory->request_of)) {
        oracle_violation('M', "%s executes in %s without its lock", oracle_thread_name(thread),
                         cpi->name);
    }
}

/* The thread that runs goes on to work, after so many ns of it: all that was under way has its
 * final value. */
static void check_work(uint64_t time)
{
    check_choice();
    const unsigned running = (unsigned)oracle->running;
    const bool works = running != NONE && (oracle_system.threads[running].role == ORACLE_WORKER ||
                                           oracle_system.threads[running].task != NONE);
    if (works) {
        const int expected = oracle_expected(running);
        if (oracle->threads[running].priority != expected) {
            oracle_violation('P', "%s runs at %u; its effective priority is %d",
                             oracle_thread_name(running), oracle->threads[running].priority,
                             expected);
        }
        check_inside(running);
        oracle_blocking_worked(running, time);
    }
    for (unsigned i = 0; oracle->waiting > 0 && i < oracle_system.cpi_count; i++) {
        const struct oracle_lock *lock = &oracle->locks[i];
        if (lock->queued > 0 && lock->held == 0) {
            oracle_violation('H', "no context holds the lock of %s, yet %s waits",
                             oracle_lock_name(i), oracle_context_name(lock->queue[0]));
        }
    }
}

/* S: no worker above the ceiling of its CPI. */
static void check_bound(unsigned thread)
{
    const unsigned cpi = oracle_system.threads[thread].cpi;
    if (cpi != NONE && oracle->threads[thread].priority > oracle_system.cpis[cpi].ceiling) {
        oracle_violation('S', "%s is set to %u, above the ceiling %u of %s",
                         oracle_thread_name(thread), oracle->threads[thread].priority,
                         oracle_system.cpis[cpi].ceiling, oracle_cpi_name(cpi));
    }
}

/* A request, or what managers have still to tell each other. */
static bool anything_under_way(void)
{
    for (unsigned i = 0; i < oracle_system.thread_count; i++) {
        const struct oracle_memory *memory = &oracle->threads[i];
        const bool asks = oracle_system.threads[i].role == ORACLE_MANAGER &&
                          memory->reason >= CAMKES_BLOCK_SEND &&
                          memory->reason <= CAMKES_BLOCK_REPLY;
        if (memory->request_cpi != NONE || memory->call_cpi != NONE || memory->gone || asks) {
            return true;
        }
    }
    return false;
}

/* Where a worker is without a request: that of a pool, or of a fixed CPI, where it was at boot. */
static unsigned base_of(unsigned thread)
{
    const struct oracle_thread *known = &oracle_system.threads[thread];
    const bool own = known->cpi != NONE && (oracle_system.cpis[known->cpi].own_priority ||
                                            oracle_system.cpis[known->cpi].pooled);
    return known->context == NONE || own ? known->base : oracle->bases[known->context];
}

/* Z: with no request under way nothing is left over. */
static void check_residue(void)
{
    if (anything_under_way()) {
        return;
    }
    for (unsigned i = 0; i < oracle_system.cpi_count; i++) {
        const struct oracle_lock *lock = &oracle->locks[i];
        if (lock->held > 0 || lock->queued > 0) {
            oracle_violation(
                'Z', "%s still %s the lock of %s",
                oracle_context_name(lock->held > 0 ? lock->holders[0] : lock->queue[0]),
                lock->held > 0 ? "holds" : "waits for", oracle_lock_name(i));
        }
    }
    for (unsigned i = 0; i < oracle_system.thread_count; i++) {
        const struct oracle_thread *known = &oracle_system.threads[i];
        const bool worker = known->role == ORACLE_WORKER;
        const unsigned base = worker ? base_of(i) : (unsigned)oracle_expected(i);
        if ((worker || known->task != NONE) && oracle->threads[i].priority != base) {
            oracle_violation('Z', "%s is left at priority %u and not at %u", oracle_thread_name(i),
                             oracle->threads[i].priority, base);
        }
    }
    oracle_budgets_residue();
}

/* ---- records ---- */

static bool in_plan(const uint64_t *args)
{
    return args[0] < oracle_system.cpi_count && args[1] < oracle_system.context_count;
}

static void request_begins(unsigned thread, const uint64_t *args)
{
    struct oracle_memory *memory = &oracle->threads[thread];
    const struct oracle_thread *known = &oracle_system.threads[thread];
    if (!in_plan(args)) {
        oracle_violation('S', "%s serves a request of a CPI or context that is not in the plan",
                         oracle_thread_name(thread));
        return;
    }
    const struct oracle_cpi *cpi = &oracle_system.cpis[args[0]];
    const bool alone = cpi->own_priority && !cpi->locks;
    if (known->context != NONE && !cpi->pooled && !alone && known->context != args[1]) {
        oracle_violation('S', "%s serves a request as one of context %s",
                         oracle_thread_name(thread), oracle_context_name((unsigned)args[1]));
    }
    for (unsigned i = 0; i < oracle_system.thread_count; i++) {
        if (alone && i != thread && oracle->threads[i].request_cpi == args[0]) {
            oracle_violation('M', "%s begins a request at %s while %s is in one",
                             oracle_thread_name(thread), cpi->name, oracle_thread_name(i));
        }
    }
    memory->leaves = NONE;
    memory->request_cpi = (uint16_t)args[0];
    memory->request_of = (uint16_t)args[1];
    memory->arrives = cpi->pooled;
    memory->origin = oracle_true_task(thread, args[3]);
}

static void check_deadline(unsigned id, const uint64_t *args)
{
    for (unsigned i = 0; i < oracle_system.task_count; i++) {
        const struct oracle_task *task = &oracle_system.tasks[i];
        if (task->id == id && task->deadline && oracle->time > args[1] + task->deadline) {
            oracle_violation('D', "job %lu of %s ends %lu ns after its deadline",
                             (unsigned long)args[0], task->name,
                             (unsigned long)(oracle->time - args[1] - task->deadline));
        }
    }
}

static void job_ends(unsigned thread, const uint64_t *args)
{
    const unsigned id = oracle_system.threads[thread].task;
    oracle->threads[thread].in_job = false;
    oracle_blocking_of_job(id);
    if (oracle_system.search && oracle_system.timed) {
        check_deadline(id, args);
    }
}

static void check_unfinished(void)
{
    for (unsigned i = 0; i < oracle_system.task_count; i++) {
        const struct oracle_task *task = &oracle_system.tasks[i];
        const unsigned control = oracle_system.contexts[task->context].control;
        const struct oracle_memory *memory = control == NONE ? NULL : &oracle->threads[control];
        const uint64_t due = memory ? memory->release + task->deadline : 0;
        if (memory && memory->in_job && task->deadline && oracle->time > due) {
            oracle_violation('D', "a job of %s has not ended %lu ns after its deadline", task->name,
                             (unsigned long)(oracle->time - due));
        }
    }
}

static void at_end(uint64_t reason)
{
    if (oracle_system.search && oracle_system.timed) {
        check_unfinished();
    }
    if (reason == CAMKES_END_IDLE) {
        oracle_check_liveness();
        check_residue();
    }
}

static void of_lock(uint16_t kind, unsigned worker, const uint64_t *args)
{
    if (!in_plan(args)) {
        oracle_violation('M', "a lock record names a CPI or context that is not in the plan");
        return;
    }
    const unsigned cpi = oracle_system.cpis[args[0]].lock, context = (unsigned)args[1];
    switch (kind) {
    case CAMKES_TRACE_LOCK_TAKE:
        oracle_taken(cpi, context);
        break;
    case CAMKES_TRACE_LOCK_GRANT:
        oracle->threads[worker].queued = false;
        oracle_granted(cpi, context);
        break;
    case CAMKES_TRACE_LOCK_WAIT:
        oracle->threads[worker].queued = true;
        oracle_waits(cpi, context);
        break;
    default:
        oracle_freed(cpi, context);
    }
}

/* H: the first wait to end is that of the highest, of equals that of the first that came. */
static void check_woken(const struct oracle_memory *woken)
{
    const unsigned mine = oracle_effective(woken->waits_as, false);
    for (unsigned i = 0; i < oracle_system.thread_count; i++) {
        const struct oracle_memory *other = &oracle->threads[i];
        if (other == woken || other->waits_for != woken->waits_for) {
            continue;
        }
        const unsigned priority = oracle_effective(other->waits_as, false);
        const bool earlier = other->wait_order < woken->wait_order;
        if (priority > mine || (priority == mine && earlier)) {
            oracle_violation(
                'H', "the wait of %s (priority %u) ends before that of %s (priority %u%s)",
                oracle_context_name(woken->waits_as), mine, oracle_context_name(other->waits_as),
                priority, earlier ? ", earlier" : "");
        }
    }
}

static void of_condition(uint16_t kind, unsigned waiter, const uint64_t *args)
{
    struct oracle_memory *memory = &oracle->threads[waiter];
    const bool waits =
        kind == CAMKES_TRACE_COND_WAIT && args[0] < NONE && args[1] < oracle_system.context_count;
    if (kind == CAMKES_TRACE_COND_WAKE && memory->waits_for != NONE) {
        check_woken(memory);
    }
    for (unsigned i = 0; i < oracle_system.thread_count; i++) {
        struct oracle_memory *other = &oracle->threads[i];
        if (waits && other != memory && other->waits_for == args[0]) {
            memory->wait_order++;
        } else if (!waits && memory->waits_for != NONE && other->waits_for == memory->waits_for &&
                   other->wait_order > memory->wait_order) {
            other->wait_order--;
        }
    }
    oracle->waiting += (waits ? 1u : 0u) - (memory->waits_for != NONE ? 1u : 0u);
    memory->wait_order = waits ? memory->wait_order : 0;
    memory->waits_for = waits ? (uint16_t)args[0] : NONE;
    memory->waits_as = waits ? (uint16_t)args[1] : NONE;
    oracle_blocking_waits();
}

static void of_runtime(uint16_t kind, unsigned thread, unsigned other, const uint64_t *args)
{
    struct oracle_memory *memory = &oracle->threads[thread];
    const unsigned about = other == NONE ? thread : other;
    switch (kind) {
    case CAMKES_TRACE_JOB_BEGIN:
        memory->in_job = true;
        memory->release = args[1];
        oracle_turns_check(thread, args[1]);
        break;
    case CAMKES_TRACE_JOB_END:
        job_ends(thread, args);
        break;
    case CAMKES_TRACE_JOB_STOP:
        oracle->threads[about].in_job = false;
        oracle->threads[about].call_cpi = NONE;
        break;
    case CAMKES_TRACE_CALL_BEGIN:
        memory->call_cpi = (uint16_t)(args[0] < oracle_system.cpi_count ? args[0] : NONE);
        break;
    case CAMKES_TRACE_CALL_END:
        memory->call_cpi = NONE;
        memory->request_turn = memory->turn;
        break;
    case CAMKES_TRACE_REQUEST_BEGIN:
        request_begins(thread, args);
        break;
    case CAMKES_TRACE_REQUEST_END:
        memory->call_cpi = NONE; /* it was aborted in one */
        if (args[0] < oracle_system.cpi_count && oracle_system.cpis[args[0]].pooled) {
            memory->leaves = memory->request_of; /* until its manager gives it the ceiling */
        }
        memory->request_cpi = memory->request_of = memory->origin = NONE;
        break;
    case CAMKES_TRACE_LOCK_TAKE:
    case CAMKES_TRACE_LOCK_GRANT:
    case CAMKES_TRACE_LOCK_WAIT:
    case CAMKES_TRACE_LOCK_FREE:
        of_lock(kind, about, args);
        break;
    case CAMKES_TRACE_TURN:
        oracle_turned(args);
        break;
    case CAMKES_TRACE_COND_WAIT:
    case CAMKES_TRACE_COND_WAKE:
    case CAMKES_TRACE_COND_EXPIRE:
        of_condition(kind, about, args);
        break;
    default:
        break;
    }
}

static bool is_ceiling(unsigned thread, uint64_t priority)
{
    const unsigned cpi = oracle_system.threads[thread].cpi;
    return cpi != NONE && priority == oracle_system.cpis[cpi].ceiling;
}

static void of_thread(uint16_t kind, unsigned thread, unsigned other, const uint64_t *args)
{
    struct oracle_memory *memory = &oracle->threads[thread];
    switch (kind) {
    case CAMKES_TRACE_SWITCH:
        oracle->running = thread;
        oracle->started = true;
        memory->runnable = true;
        memory->reason = 0;
        check_choice();
        break;
    case CAMKES_TRACE_READY:
        memory->gone = false;
        memory->runnable = true;
        memory->reason = 0;
        break;
    case CAMKES_TRACE_BLOCK:
        memory->runnable = false;
        memory->reason = (uint8_t)args[0];
        oracle_blocking_waits();
        break;
    case CAMKES_TRACE_FAULT:
    case CAMKES_TRACE_EXIT:
        memory->runnable = false;
        memory->gone = memory->gone || kind == CAMKES_TRACE_FAULT;
        break;
    case CAMKES_TRACE_PRIORITY:
        memory->priority = (uint8_t)args[1];
        memory->arrives = false;
        if (is_ceiling(thread, args[1])) {
            memory->leaves = NONE;
        }
        check_bound(thread);
        break;
    case CAMKES_TRACE_WORK:
        check_work(0);
        break;
    default:
        of_runtime(kind, thread, other, args);
    }
}

static void time_passes(uint64_t until)
{
    const uint64_t passed = until - oracle->time;
    check_work(passed);
    oracle->time = until;
    oracle_budgets_worked((unsigned)oracle->running, passed);
}

void oracle_record(uint64_t time, uint16_t kind, unsigned thread, unsigned other,
                   const uint64_t *args)
{
    if (oracle_system.timed && time > oracle->time) {
        time_passes(time);
    }
    if (thread != NONE) {
        oracle_message(kind, thread, other, args);
    }
    oracle_released(kind, thread, time, args);
    oracle_budgets_record(kind, thread, other, args);
    if (kind == CAMKES_TRACE_IDLE) {
        oracle->running = NONE;
        check_choice();
        check_residue();
    } else if (kind == CAMKES_TRACE_END) {
        at_end(args[0]);
    } else if (kind == CAMKES_TRACE_CRITICALITY) {
        oracle_set_criticality(args[0]);
    } else if (kind == CAMKES_TRACE_SLOT) {
        oracle->domain = (uint16_t)args[0];
    } else if (thread != NONE) {
        of_thread(kind, thread, other, args);
    }
}
