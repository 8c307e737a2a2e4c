/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The state machine of a worker on an MCS kernel: its table, and what each change does. */
#include "overrun.h"

#if defined(CONFIG_KERNEL_MCS)

/* Does it, with a scheduling context if the event has one; returns whether it is done. */
typedef bool action_t(struct camkes_cpi *cpi, struct camkes_thread *worker, seL4_CPtr time);

static bool none(struct camkes_cpi *cpi, struct camkes_thread *worker, seL4_CPtr time)
{
    (void)cpi, (void)worker, (void)time;
    return true;
}

/* What it executed on was unbound before. */
static bool keep(struct camkes_cpi *cpi, struct camkes_thread *worker, seL4_CPtr time)
{
    (void)cpi;
    worker->withdrawn = time;
    return true;
}

/* If the worker is blocked, there must be budget; one that is ready waits for it. */
static bool restore(struct camkes_cpi *cpi, struct camkes_thread *worker, seL4_CPtr time)
{
    (void)cpi, (void)time;
    if (!camkes_bind(worker->withdrawn, worker)) {
        return false;
    }
    worker->withdrawn = 0;
    return true;
}

/* The worker may execute at once, and nothing else tells the manager of the release. */
static bool help(struct camkes_cpi *cpi, struct camkes_thread *worker, seL4_CPtr time)
{
    const uintptr_t before = atomic_fetch_or(camkes_lock_of(cpi), CAMKES_WAITERS);
    worker->donated = time;
    if (camkes_bind(time, worker)) {
        return true;
    }
    worker->donated = 0;
    if ((before & CAMKES_WAITERS) == 0) {
        atomic_fetch_and(camkes_lock_of(cpi), ~CAMKES_WAITERS);
    }
    return false;
}

static bool end_help(struct camkes_cpi *cpi, struct camkes_thread *worker, seL4_CPtr time)
{
    (void)cpi, (void)time;
    worker->donated = 0;
    return true;
}

static bool return_help(struct camkes_cpi *cpi, struct camkes_thread *worker, seL4_CPtr time)
{
    camkes_must(seL4_SchedContext_UnbindObject(worker->donated, worker->tcb));
    return end_help(cpi, worker, time);
}

/* The manager learns of the release of the lock; without one, the worker returns it when it has
 * replied. */
static bool extend(struct camkes_cpi *cpi, struct camkes_thread *worker, seL4_CPtr time)
{
    (void)time;
    if (cpi->extension == 0 || cpi->extended != NULL || !camkes_bind(cpi->extension, worker)) {
        return false;
    }
    cpi->extended = worker;
    worker->donated = cpi->extension;
    if (cpi->unlocked || cpi->grouped) {
        atomic_store(&worker->extended, true);
    } else {
        atomic_fetch_or(camkes_lock_of(cpi), CAMKES_WAITERS);
    }
    return true;
}

static bool end_extension(struct camkes_cpi *cpi, struct camkes_thread *worker, seL4_CPtr time)
{
    (void)time;
    worker->donated = 0;
    cpi->extended = NULL;
    atomic_store(&worker->extended, false);
    return true;
}

static bool return_extension(struct camkes_cpi *cpi, struct camkes_thread *worker, seL4_CPtr time)
{
    camkes_must(seL4_SchedContext_UnbindObject(worker->donated, worker->tcb));
    return end_extension(cpi, worker, time);
}

static bool finish(struct camkes_cpi *cpi, struct camkes_thread *worker, seL4_CPtr time)
{
    (void)time;
    if (cpi->homed != NULL || !camkes_bind(cpi->home.context, worker)) {
        return false;
    }
    cpi->homed = worker;
    worker->donated = cpi->home.context;
    atomic_store(&worker->extended, true);
    return true;
}

/* What its caller has back is not its own any more. */
static bool give_up(struct camkes_cpi *cpi, struct camkes_thread *worker, seL4_CPtr time)
{
    (void)cpi, (void)time;
    worker->withdrawn = 0;
    return true;
}

/* It is ready then: it waits for a refill. */
static bool go_on_extension(struct camkes_cpi *cpi, struct camkes_thread *worker, seL4_CPtr time)
{
    (void)time;
    if (cpi->extension == 0 || cpi->extended != NULL) {
        return false;
    }
    cpi->extended = worker;
    worker->donated = cpi->extension;
    camkes_must(seL4_SchedContext_Bind(cpi->extension, worker->tcb));
    return true;
}

static bool go_home(struct camkes_cpi *cpi, struct camkes_thread *worker, seL4_CPtr time)
{
    (void)time;
    if (cpi->homed != NULL) {
        return false;
    }
    cpi->homed = worker;
    worker->donated = cpi->home.context;
    camkes_must(seL4_SchedContext_Bind(cpi->home.context, worker->tcb));
    return true;
}

/* The context of the way home has always budget. */
static bool exchange(struct camkes_cpi *cpi, struct camkes_thread *worker, seL4_CPtr time)
{
    (void)time;
    if (cpi->homed != NULL) {
        return false;
    }
    camkes_must(seL4_SchedContext_UnbindObject(cpi->extension, worker->tcb));
    camkes_must(seL4_SchedContext_Bind(cpi->home.context, worker->tcb));
    cpi->extended = NULL;
    cpi->homed = worker;
    worker->donated = cpi->home.context;
    return true;
}

static bool leave_extension(struct camkes_cpi *cpi, struct camkes_thread *worker, seL4_CPtr time)
{
    cpi->extended = NULL;
    worker->donated = 0;
    return give_up(cpi, worker, time);
}

static bool leave_home(struct camkes_cpi *cpi, struct camkes_thread *worker, seL4_CPtr time)
{
    cpi->homed = NULL;
    worker->donated = 0;
    return give_up(cpi, worker, time);
}

static const struct change {
    action_t *action; /* NULL: the event does not occur in the state */
    enum camkes_worker_state next;
} changes[CAMKES_STATES][CAMKES_EVENTS] = {
#define CHANGE(state, event, action, next)                                                         \
    [CAMKES_WORKER_##state][CAMKES_ON_##event] = {action, CAMKES_WORKER_##next},
    CAMKES_WORKER_CHANGES(CHANGE)
#undef CHANGE
};

bool camkes_worker_event(struct camkes_cpi *cpi, struct camkes_thread *worker,
                         enum camkes_worker_event event, seL4_CPtr time)
{
    const struct change *const change = &changes[worker->state][event];
    CAMKES_ASSERT(change->action != NULL);
    if (!change->action(cpi, worker, time)) {
        return false;
    }
    worker->state = change->next;
    return true;
}

void camkes_worker_must(struct camkes_cpi *cpi, struct camkes_thread *worker,
                        enum camkes_worker_event event)
{
    if (!camkes_worker_event(cpi, worker, event, 0)) {
        camkes_platform_fault();
    }
}

#endif
