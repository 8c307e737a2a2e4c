/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * The state machine of a worker on an MCS kernel (camkes/worker_states.h): what each change does,
 * and the function that does it. It is inlined, so that of the table what an event needs is left.
 */
#pragma once

#include "overrun.h"

#if defined(CONFIG_KERNEL_MCS)

/* -- actions, with a scheduling context if the event has one: each returns whether it is done -- */

CAMKES_INLINE_HERE bool camkes_worker_none(struct camkes_cpi *cpi, struct camkes_thread *worker,
                                           seL4_CPtr time)
{
    (void)cpi, (void)worker, (void)time;
    return true;
}

/* What it executed on was unbound before. */
CAMKES_INLINE_HERE bool camkes_worker_keep(struct camkes_cpi *cpi, struct camkes_thread *worker,
                                           seL4_CPtr time)
{
    (void)cpi;
    worker->withdrawn = time;
    return true;
}

/* If the worker is blocked, there must be budget; one that is ready waits for it. */
CAMKES_INLINE_HERE bool camkes_worker_restore(struct camkes_cpi *cpi, struct camkes_thread *worker,
                                              seL4_CPtr time)
{
    (void)cpi, (void)time;
    if (!camkes_bind(worker->withdrawn, worker)) {
        return false;
    }
    worker->withdrawn = 0;
    return true;
}

/* The worker may execute at once, and nothing else tells the manager of the release. */
CAMKES_INLINE_HERE bool camkes_worker_help(struct camkes_cpi *cpi, struct camkes_thread *worker,
                                           seL4_CPtr time)
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

/* It does not have what it was given any more. */
CAMKES_INLINE_HERE bool camkes_worker_end(struct camkes_cpi *cpi, struct camkes_thread *worker,
                                          seL4_CPtr time)
{
    (void)time;
    worker->donated = 0;
    if (cpi->extended == worker) {
        cpi->extended = NULL;
        atomic_store(&worker->extended, false);
    }
    return true;
}

CAMKES_INLINE_HERE bool camkes_worker_give_back(struct camkes_cpi *cpi,
                                                struct camkes_thread *worker, seL4_CPtr time)
{
    camkes_must(seL4_SchedContext_UnbindObject(worker->donated, worker->tcb));
    return camkes_worker_end(cpi, worker, time);
}

/* What a worker is about to execute on, or does already. */
CAMKES_INLINE_HERE void camkes_worker_on_extension(struct camkes_cpi *cpi,
                                                   struct camkes_thread *worker)
{
    cpi->extended = worker;
    worker->donated = cpi->extension;
}

CAMKES_INLINE_HERE void camkes_worker_on_way_home(struct camkes_cpi *cpi,
                                                  struct camkes_thread *worker)
{
    cpi->homed = worker;
    worker->donated = cpi->home.context;
}

/* The manager learns of the release of the lock; without one, the worker returns it when it has
 * replied. */
CAMKES_INLINE_HERE bool camkes_worker_extend(struct camkes_cpi *cpi, struct camkes_thread *worker,
                                             seL4_CPtr time)
{
    (void)time;
    if (cpi->extension == 0 || cpi->extended != NULL || !camkes_bind(cpi->extension, worker)) {
        return false;
    }
    camkes_worker_on_extension(cpi, worker);
    if (cpi->unlocked || cpi->grouped) {
        atomic_store(&worker->extended, true);
    } else {
        atomic_fetch_or(camkes_lock_of(cpi), CAMKES_WAITERS);
    }
    return true;
}

CAMKES_INLINE_HERE bool camkes_worker_finish(struct camkes_cpi *cpi, struct camkes_thread *worker,
                                             seL4_CPtr time)
{
    (void)time;
    if (cpi->homed != NULL || !camkes_bind(cpi->home.context, worker)) {
        return false;
    }
    camkes_worker_on_way_home(cpi, worker);
    atomic_store(&worker->extended, true);
    return true;
}

/* What its caller has back is not its own any more. */
CAMKES_INLINE_HERE bool camkes_worker_give_up(struct camkes_cpi *cpi, struct camkes_thread *worker,
                                              seL4_CPtr time)
{
    (void)cpi, (void)time;
    worker->withdrawn = 0;
    return true;
}

/* It is ready then: it waits for a refill. */
CAMKES_INLINE_HERE bool camkes_worker_go_on_extension(struct camkes_cpi *cpi,
                                                      struct camkes_thread *worker, seL4_CPtr time)
{
    (void)time;
    if (cpi->extension == 0 || cpi->extended != NULL) {
        return false;
    }
    camkes_worker_on_extension(cpi, worker);
    camkes_must(seL4_SchedContext_Bind(cpi->extension, worker->tcb));
    return true;
}

CAMKES_INLINE_HERE bool camkes_worker_go_home(struct camkes_cpi *cpi, struct camkes_thread *worker,
                                              seL4_CPtr time)
{
    (void)time;
    if (cpi->homed != NULL) {
        return false;
    }
    camkes_worker_on_way_home(cpi, worker);
    camkes_must(seL4_SchedContext_Bind(cpi->home.context, worker->tcb));
    return true;
}

/* The context of the way home has always budget. */
CAMKES_INLINE_HERE bool camkes_worker_exchange(struct camkes_cpi *cpi, struct camkes_thread *worker,
                                               seL4_CPtr time)
{
    (void)time;
    if (cpi->homed != NULL) {
        return false;
    }
    camkes_must(seL4_SchedContext_UnbindObject(cpi->extension, worker->tcb));
    camkes_must(seL4_SchedContext_Bind(cpi->home.context, worker->tcb));
    cpi->extended = NULL;
    camkes_worker_on_way_home(cpi, worker);
    return true;
}

CAMKES_INLINE_HERE bool camkes_worker_arrive(struct camkes_cpi *cpi, struct camkes_thread *worker,
                                             seL4_CPtr time)
{
    *(cpi->extended == worker ? &cpi->extended : &cpi->homed) = NULL;
    worker->donated = 0;
    return camkes_worker_give_up(cpi, worker, time);
}

/* -- */

#define CAMKES_PAIR(state, event) ((unsigned)(state) * CAMKES_EVENTS + (unsigned)(event))

/* Takes a worker from its state to the next one. Returns false if that cannot be now: then the
 * state stays. */
CAMKES_INLINE_HERE bool camkes_worker_event(struct camkes_cpi *cpi, struct camkes_thread *worker,
                                            enum camkes_worker_event event, seL4_CPtr time)
{
    switch (CAMKES_PAIR(worker->state, event)) {
#define CHANGE(state_before, event, action, next)                                                  \
    case CAMKES_PAIR(CAMKES_WORKER_##state_before, CAMKES_ON_##event):                             \
        if (!camkes_worker_##action(cpi, worker, time)) {                                          \
            return false;                                                                          \
        }                                                                                          \
        worker->state = CAMKES_WORKER_##next;                                                      \
        return true;
        /* not covered: some actions cannot fail */
        CAMKES_WORKER_CHANGES(CHANGE)
#undef CHANGE
    default:
        CAMKES_UNREACHABLE();
    }
}

/* The same for what cannot fail. */
CAMKES_INLINE_HERE void camkes_worker_must(struct camkes_cpi *cpi, struct camkes_thread *worker,
                                           enum camkes_worker_event event)
{
    if (!camkes_worker_event(cpi, worker, event, 0)) {
        camkes_platform_fault();
    }
}

#endif
