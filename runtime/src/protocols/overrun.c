/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * The overrun policies of a CPI. Three facts of the kernel carry them:
 *
 * - A context that is bound to a blocked thread must have budget now, or else that fails. A worker
 *   that has faulted, or waits for the lock, is blocked, so Bind also asks whether there is budget.
 * - UnbindObject leaves the chain of calls as it is: at the reply, the caller gets its context
 * back.
 * - A thread whose fault is answered while its context has no budget waits for the refill.
 */
#include "overrun.h"

#include "nested.h"
#include "queue.h"

#include <camkes/instance.h>
#include <camkes/label.h>

#if defined(CONFIG_KERNEL_MCS)

static bool bind(seL4_CPtr time, const struct camkes_thread *thread)
{
    return seL4_SchedContext_Bind(time, thread->tcb) == seL4_NoError;
}

static void unbind(seL4_CPtr time, const struct camkes_thread *thread)
{
    (void)seL4_SchedContext_UnbindObject(time, thread->tcb);
}

static void reply(void)
{
    camkes_platform_reply(seL4_MessageInfo_new(0, 0, 0, 0));
}

static struct camkes_thread *worker_of(const struct camkes_context *context)
{
    return atomic_load(&context->worker);
}

void camkes_overrun_prepare(const struct camkes_cpi *cpi)
{
    for (uint16_t i = 0; i < cpi->contexts; i++) {
        const struct camkes_context *context = &cpi->context[i];
        if (context->timeout != 0 &&
            seL4_TCB_SetTimeoutEndpoint(worker_of(context)->tcb, context->timeout) !=
                seL4_NoError) {
            camkes_platform_fault();
        }
    }
}

/* The most urgent context that waits for the lock and was not found without budget. */
static struct camkes_context *next_payer(struct camkes_cpi *cpi)
{
    struct camkes_context *best = NULL;
    for (uint16_t i = 0; i < cpi->contexts; i++) {
        struct camkes_context *context = &cpi->context[i];
        if (context->waiting && context->time != 0 && !context->spent &&
            (best == NULL || camkes_queue_before(context, best))) {
            best = context;
        }
    }
    return best;
}

static void take_away(struct camkes_context *context)
{
    if (!context->away) {
        unbind(context->time, worker_of(context));
        context->away = true;
    }
}

/* Binds the context of one that waits and has budget to the worker of the holder, which is blocked
 * and has none. Returns false if there is no such one. */
static bool pay(struct camkes_cpi *cpi, struct camkes_context *holder)
{
    struct camkes_context *payer;
    for (uint16_t i = 0; i < cpi->contexts; i++) {
        cpi->context[i].spent = false;
    }
    while ((payer = next_payer(cpi)) != NULL) {
        take_away(payer);
        if (bind(payer->time, worker_of(holder))) {
            holder->payer = payer;
            return true;
        }
        payer->spent = true;
    }
    return false;
}

/* The extension of the CPI, in the same way; nothing else tells the manager of the release. */
static bool extend(struct camkes_cpi *cpi, struct camkes_context *holder)
{
    if (cpi->extension == 0 || cpi->extended != NULL || !bind(cpi->extension, worker_of(holder))) {
        return false;
    }
    cpi->extended = holder;
    if (cpi->unlocked) {
        atomic_store(&worker_of(holder)->extended, true);
    } else {
        atomic_fetch_or(&cpi->lock, CAMKES_WAITERS);
    }
    return true;
}

/* Unbinds what the worker runs on, and returns it. */
static seL4_CPtr stop(struct camkes_cpi *cpi, struct camkes_context *context)
{
    seL4_CPtr time = context->time;
    if (context->payer != NULL) {
        time = context->payer->time;
        context->payer = NULL;
    } else if (cpi->extended == context) {
        time = cpi->extension;
        cpi->extended = NULL;
        atomic_store(&worker_of(context)->extended, false);
    }
    unbind(time, worker_of(context));
    return time;
}

/* The rest of a request that was aborted, by its worker: then it serves again. */
static void end_aborted(void)
{
    struct camkes_thread *self = camkes_self();
    const struct camkes_context *context = camkes_sender_context(self);
    if (self->cpi->rollback != NULL) {
        self->cpi->rollback();
    }
    CAMKES_TRACE(REQUEST_END, self->cpi->id, context->id);
    camkes_request_abandoned();
    camkes_ask_own_manager(self->cpi, context, CAMKES_RETURN_TIME);
    self->start(self);
    camkes_platform_fault();
}

/* Answers the caller, to whom its time goes back, in place of the worker, which rolls back. */
static void abort_request(struct camkes_cpi *cpi, struct camkes_context *context)
{
    struct camkes_thread *worker = worker_of(context);
    const bool extends = cpi->extension != 0 && cpi->extended == NULL;
    const seL4_CPtr time = extends ? cpi->extension : cpi->home.context;
    worker->leaving = true;
    seL4_Send(worker->reply, seL4_MessageInfo_new(CAMKES_MESSAGE_ABORTED, 0, 0, 0));
    cpi->extended = extends ? context : cpi->extended;
    const bool ready = bind(time, worker);
    camkes_platform_restart(worker, end_aborted);
    if (!ready) {
        (void)bind(time, worker);
    }
}

void camkes_overrun_exchange(struct camkes_cpi *cpi)
{
    if (cpi->extended != NULL) {
        const struct camkes_thread *worker = worker_of(cpi->extended);
        cpi->extended = NULL;
        unbind(cpi->extension, worker);
        (void)bind(cpi->home.context, worker);
    }
}

void camkes_overrun_return(struct camkes_cpi *cpi, struct camkes_context *context)
{
    struct camkes_thread *const worker = worker_of(context);
    const uint8_t priority =
        worker->context != NULL ? atomic_load(&context->effective) : cpi->ceiling;
    if (cpi->extended == context) {
        unbind(cpi->extension, worker);
        cpi->extended = NULL;
        (void)bind(cpi->home.context, worker);
    }
    /* the manager waits for it */
    (void)seL4_TCB_SetPriority(worker->tcb, cpi->authority, cpi->ceiling);
    worker->home = &cpi->home;
    worker->leaving = false;
    reply();
    camkes_platform_bring_home(&cpi->home);
    (void)seL4_TCB_SetPriority(worker->tcb, cpi->authority, priority);
}

void camkes_overrun(struct camkes_cpi *cpi, const struct camkes_context *any)
{
    struct camkes_context *const context = camkes_sender_context(worker_of(any));
    if (worker_of(context)->leaving) {
        reply(); /* it waits until the extension is refilled */
        return;
    }
    const bool holds = (atomic_load(&cpi->lock) & (CAMKES_WAITERS - 1)) == context->held;
    struct camkes_context *const payer = context->payer;
    const bool extended = cpi->extended == context;
    const seL4_CPtr time = stop(cpi, context);
    if (bind(time, worker_of(context))) { /* only a part of the budget is used up */
        context->payer = payer;
        if (extended) {
            cpi->extended = context;
            atomic_store(&worker_of(context)->extended, cpi->unlocked);
        }
        reply();
        return;
    }
    context->stalled = false;
    if (cpi->aborts) {
        abort_request(cpi, context);
        return;
    }
    if ((holds && cpi->helps && pay(cpi, context)) ||
        (time != context->time && bind(context->time, worker_of(context))) ||
        ((holds || cpi->unlocked) && !extended && extend(cpi, context))) {
        reply();
        return;
    }
    reply();
    (void)bind(context->time, worker_of(context)); /* it waits for the refill */
    context->stalled = holds;
}

void camkes_overrun_wait(struct camkes_cpi *cpi, struct camkes_context *holder,
                         struct camkes_context *context)
{
    if (!cpi->helps || !holder->stalled) {
        return;
    }
    /* the holder may have got budget since: the thread that waits is blocked, so it can be asked */
    unbind(holder->time, worker_of(holder));
    take_away(context);
    holder->stalled = false;
    if (bind(holder->time, worker_of(context))) {
        unbind(holder->time, worker_of(context));
        (void)bind(holder->time, worker_of(holder));
        context->away = !bind(context->time, worker_of(context));
    } else {
        (void)pay(cpi, holder); /* the one that waits can: it was executing */
    }
}

bool camkes_overrun_leave(struct camkes_cpi *cpi, struct camkes_context *context)
{
    const bool others = context->payer != NULL || cpi->extended == context;
    if (others) {
        (void)stop(cpi, context);
    }
    context->stalled = false;
    return others;
}

void camkes_overrun_home(struct camkes_context *context)
{
    reply();
    (void)bind(context->time, worker_of(context));
}

void camkes_overrun_grant(struct camkes_cpi *cpi, struct camkes_context *context)
{
    const bool empty = context->away && !bind(context->time, worker_of(context));
    context->away = false;
    const bool paid = empty && cpi->helps && pay(cpi, context);
    seL4_Send(context->reply, seL4_MessageInfo_new(0, 0, 0, 0));
    if (empty && !paid) {
        (void)bind(context->time, worker_of(context));
        context->stalled = true;
    }
}

#endif
