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
        const bool first =
            best == NULL || context->request > best->request ||
            (context->request == best->request && (int32_t)(context->arrival - best->arrival) < 0);
        if (context->waiting && context->time != 0 && !context->spent && first) {
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
    atomic_fetch_or(&cpi->lock, CAMKES_WAITERS);
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
    }
    unbind(time, worker_of(context));
    return time;
}

void camkes_overrun(struct camkes_cpi *cpi, struct camkes_context *context, bool holds)
{
    struct camkes_context *const payer = context->payer;
    const bool extended = cpi->extended == context;
    const seL4_CPtr time = stop(cpi, context);
    if (bind(time, worker_of(context))) { /* only a part of the budget is used up */
        context->payer = payer;
        cpi->extended = extended ? context : cpi->extended;
        reply();
        return;
    }
    context->stalled = false;
    if ((holds && cpi->helps && pay(cpi, context)) ||
        (time != context->time && bind(context->time, worker_of(context))) ||
        (holds && !extended && extend(cpi, context))) {
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
