/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Requests that are aborted because their budget is used up, and the way home of their workers.
 * Rolling back needs time that is not the caller's: the extension of the CPI, which limits what all
 * roll-backs take, or if there is none, the scheduling context of the way home. What follows takes
 * either. Who finds none waits for them.
 */
#include "../core/fatal.h"
#include "../core/nested.h"
#include "overrun.h"
#include "worker_states.h"

#include <camkes/instance.h>
#include <camkes/serve.h>

#if defined(CONFIG_KERNEL_MCS)

static void answer(seL4_CPtr reply)
{
    seL4_Send(reply, seL4_MessageInfo_new(CAMKES_MESSAGE_ABORTED, 0, 0, 0));
}

/* The rest of a request that was aborted, by its worker: then it serves again. */
static void end_aborted(void)
{
    struct camkes_thread *self = camkes_self();
    const bool rolls_back = self->rolls_back;
    if (rolls_back && self->cpi->grouped) {
        camkes_request_abandoned();
    }
    if (rolls_back && self->cpi->rollback != NULL) {
        self->cpi->rollback();
    }
    self->rolls_back = false;
    if (self->serving) {
        CAMKES_TRACE(REQUEST_END, self->cpi->id, camkes_sender_context(self)->id);
        self->serving = false;
    }
    if (self->cpi->grouped && rolls_back && !self->cpi->unlocked) {
        camkes_lock_free(self, self->cpi, camkes_lock_of(self->cpi), self->context->held);
    }
    camkes_return_time(self, CAMKES_RETURN_REPLIED);
    self->start(self);
    camkes_platform_fault();
}

/* The worker that has the extension gives it up for the scheduling context of the way home, if that
 * is free. */
static void exchange(struct camkes_cpi *cpi)
{
    if (cpi->extended != NULL) {
        (void)camkes_worker_event(cpi, cpi->extended, CAMKES_ON_EXCHANGE, 0);
    }
}

/* Gives a worker that was aborted something to execute on, if that is free. */
static void give_time(struct camkes_cpi *cpi, struct camkes_thread *worker)
{
    const bool reserved = worker->rolls_back && cpi->extension != 0;
    if (reserved && cpi->extended != NULL && !cpi->extended->rolls_back) {
        exchange(cpi);
    }
    if (!camkes_worker_event(cpi, worker, CAMKES_ON_EXTEND, 0) && !reserved) {
        (void)camkes_worker_event(cpi, worker, CAMKES_ON_FINISH, 0);
    }
}

/* Whether a scheduling context is that of a task, or its extension. */
static bool belongs(const struct camkes_cpi *cpi, seL4_CPtr time,
                    const struct camkes_context *context)
{
    /* at most payers times: each once */
    for (uint16_t i = 0; i < cpi->payers; i++) {
        if (cpi->payer[i].time == time) {
            return cpi->payer[i].id == context->id;
        }
    }
    return false;
}

/* The caller is a task that has to wait until it is resumed: the reply is kept, and with it the
 * time. One that itself serves a request is only aborted, as it may have locks. */
static bool suspend(const struct camkes_cpi *cpi, struct camkes_thread *worker)
{
    struct camkes_context *context = worker->badge != 0 ? camkes_sender_context(worker) : NULL;
    if (!cpi->suspends || context == NULL || !cpi->caller[worker->badge - 1].is_task ||
        !belongs(cpi, worker->withdrawn, context)) {
        return false;
    }
    const seL4_CPtr reply = worker->reply;
    worker->reply = context->reply;
    context->reply = reply;
    context->suspended = true;
    context->resumed = camkes_label_task(worker->label);
    return true;
}

void camkes_overrun_abort(struct camkes_cpi *cpi, struct camkes_thread *worker, bool holds)
{
    struct camkes_context *const context = worker->context;
    if (!cpi->grouped) {
        /* before the caller goes on, which may make another request there */
        camkes_nested_abandon(context);
    }
    if (!suspend(cpi, worker)) {
        answer(worker->reply);
    }
    camkes_worker_must(cpi, worker, CAMKES_ON_ABORT);
    worker->rolls_back = holds || cpi->unlocked;
    camkes_platform_restart(worker, end_aborted);
    give_time(cpi, worker);
}

void camkes_overrun_resume(struct camkes_cpi *cpi, uint16_t task)
{
    seL4_Word result = CAMKES_MESSAGE_OPERATION;
    /* at most contexts times: each once */
    for (uint16_t i = 0; i < cpi->contexts; i++) {
        struct camkes_context *context = &cpi->context[i];
        if (context->suspended && context->resumed == task) {
            context->suspended = false;
            answer(context->reply);
            result = CAMKES_MESSAGE_GOOD;
        }
    }
    camkes_platform_reply(seL4_MessageInfo_new(result, 0, 0, 0));
}

/* A worker gets home, to wait for callers. */
static void bring_home(struct camkes_cpi *cpi, struct camkes_thread *worker)
{
    const uint8_t priority = atomic_load(&worker->context->effective);
    exchange(cpi);
    camkes_set_priority(worker, cpi->authority, cpi->ceiling); /* the manager waits for it */
    worker->home = &cpi->home;
    worker->replied = false;
    atomic_store(&worker->arriving, true);
    camkes_platform_reply(seL4_MessageInfo_new(0, 0, 0, 0));
    camkes_platform_bring_home(&cpi->home, worker->donated);
    camkes_worker_must(cpi, worker, CAMKES_ON_ARRIVE);
    camkes_set_priority(worker, cpi->authority, priority);
    atomic_store(&worker->arriving, false);
    /* at most contexts times: each once */
    for (uint16_t i = 0; i < cpi->contexts; i++) {
        struct camkes_thread *other = camkes_worker_of(&cpi->context[i]);
        if (other->state == CAMKES_WORKER_ABORTED) {
            give_time(cpi, other);
        }
    }
}

/* In a group, a worker is about to give up the lock. What it has of others goes back before; in
 * other messages it has nothing of others. */
static void leave_lock(struct camkes_cpi *cpi, struct camkes_thread *worker, bool ends)
{
    const bool lent = worker->state == CAMKES_WORKER_HELPED;
    bool good = true;
    if (lent) {
        camkes_worker_must(cpi, worker, CAMKES_ON_RELEASE);
        good = ends && camkes_worker_event(cpi, worker, CAMKES_ON_FINISH, 0);
    }
    camkes_platform_reply(seL4_MessageInfo_new(0, 0, 0, 0));
    if (!good) {
        camkes_worker_must(cpi, worker, CAMKES_ON_RESTORE);
    }
}

struct camkes_context *camkes_overrun_return(struct camkes_cpi *cpi, struct camkes_thread *worker,
                                             enum camkes_return when)
{
    /* not covered: each value has a case */
    switch (when) {
    case CAMKES_RETURN_REPLIED:
        bring_home(cpi, worker);
        return worker->context;
    case CAMKES_RETURN_BEGUN:
        exchange(cpi);
        leave_lock(cpi, worker, false);
        return NULL;
    case CAMKES_RETURN_RELEASE:
        leave_lock(cpi, worker, true);
        return NULL;
    case CAMKES_RETURN_WAIT:
    case CAMKES_RETURN_NOTHING:
        leave_lock(cpi, worker, false);
        return NULL;
    }
    CAMKES_UNREACHABLE();
}

#endif
