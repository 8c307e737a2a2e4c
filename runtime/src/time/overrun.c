/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * The overrun policies of a CPI. Three facts of the kernel carry them:
 *
 * - A context that is bound to a blocked thread must have budget now, or else that fails. A worker
 *   that has faulted, or waits for the lock, is blocked, so Bind also asks whether there is budget.
 * - UnbindObject leaves the chain of calls as it is: at the reply, the caller gets its context
 *   back.
 * - A thread whose fault is answered while its context has no budget waits for the refill.
 */
#include "overrun.h"
#include "../core/nested.h"
#include "../core/queue.h"
#include "worker_states.h"

#if defined(CONFIG_KERNEL_MCS)

static void reply(void)
{
    camkes_platform_reply(seL4_MessageInfo_new(0, 0, 0, 0));
}

void camkes_overrun_prepare(const struct camkes_thread *worker)
{
    const seL4_CPtr timeout = worker->context->timeout;
    if (timeout != 0) {
        camkes_must(seL4_TCB_SetTimeoutEndpoint(worker->tcb, timeout));
    }
}

/*
 * Unbinds what a worker executes on, and returns it; 0: it is none that the manager knows. Most
 * often that is the time of the context; but it may have come with a request of a fixed CPI, or be
 * that of a task that waits further up.
 */
static seL4_CPtr take(const struct camkes_cpi *cpi, const struct camkes_thread *worker,
                      const struct camkes_context *context)
{
    const seL4_CPtr likely = worker->donated != 0 ? worker->donated : context->time;
    if (likely != 0 && camkes_unbind(likely, worker)) {
        return likely;
    }
    /* at most payers times: each once */
    for (uint16_t i = 0; i < cpi->payers; i++) {
        if (camkes_unbind(cpi->payer[i].time, worker)) {
            return cpi->payer[i].time;
        }
    }
    return 0;
}

/* Of two that wait for the lock, and so have the priorities of their own requests. */
static bool before(const struct camkes_context *x, const struct camkes_context *y)
{
    const uint8_t mine = atomic_load(&x->effective), other = atomic_load(&y->effective);
    return mine != other ? mine > other : x->rank % CAMKES_RANKS > y->rank % CAMKES_RANKS;
}

/* The most urgent context that waits for the lock and was not asked yet. */
static struct camkes_context *next_payer(struct camkes_cpi *cpi)
{
    struct camkes_context *best = NULL;
    /* at most contexts times: each once */
    for (uint16_t i = 0; i < cpi->contexts; i++) {
        struct camkes_context *context = &cpi->context[i];
        if (camkes_waits(context) && !context->asked && (best == NULL || before(context, best))) {
            best = context;
        }
    }
    return best;
}

/* Takes the time of its caller away from a worker. Returns whether it has none now. */
static bool withdraw(struct camkes_cpi *cpi, struct camkes_thread *worker,
                     const struct camkes_context *context)
{
    const seL4_CPtr time = take(cpi, worker, context);
    /* not covered: this event cannot fail */
    return time != 0 && camkes_worker_event(cpi, worker, CAMKES_ON_WITHDRAW, time);
}

/* Whether it executes on the time of its caller, as far as the manager knows. */
static bool has_own(const struct camkes_thread *worker)
{
    return worker->state == CAMKES_WORKER_PASSIVE || worker->state == CAMKES_WORKER_STALLED;
}

/* A context that waits for the lock does not keep its time. */
static void take_away(struct camkes_cpi *cpi, const struct camkes_context *context)
{
    struct camkes_thread *const worker = camkes_worker_of(context);
    if (has_own(worker)) {
        (void)withdraw(cpi, worker, context); /* if it is not with another thread */
    }
}

/* Whether there is budget. The spare worker is blocked for certain: one that can be called may have
 * received a message that was sent to it, and be left ready without time. */
static bool has_budget(const struct camkes_cpi *cpi, seL4_CPtr time)
{
    /* not covered: what was bound just now can be unbound */
    return camkes_bind(time, cpi->spare) && camkes_unbind(time, cpi->spare);
}

/* The context for whose request a task waits further up; NULL: none. */
static struct camkes_context *awaited_by(const struct camkes_cpi *cpi,
                                         const struct camkes_payer *payer)
{
    return payer->awaits != 0 ? &cpi->context[payer->awaits - 1] : NULL;
}

/* Whether a task waits further up for the holder of the lock, or for one that waits for that. */
static bool awaits(const struct camkes_cpi *cpi, const struct camkes_payer *payer,
                   const struct camkes_context *holder)
{
    const struct camkes_context *context = awaited_by(cpi, payer);
    return context != NULL && (context == holder || (cpi->helps && camkes_waits(context)));
}

/* The most urgent task that waits further up and was not asked yet. */
static struct camkes_payer *next_above(const struct camkes_cpi *cpi,
                                       const struct camkes_context *holder)
{
    struct camkes_payer *best = NULL;
    /* at most payers times: each once */
    for (uint16_t i = 0; i < cpi->payers; i++) {
        struct camkes_payer *payer = &cpi->payer[i];
        if (awaits(cpi, payer, holder) && !payer->asked &&
            (best == NULL || payer->priority > best->priority)) {
            best = payer;
        }
    }
    return best;
}

/* Binds the time of one that waits, here or further up, and has budget to the worker of the holder,
 * which has none. Returns false if there is no such one. */
static bool pay(struct camkes_cpi *cpi, struct camkes_context *holder, bool blocked)
{
    struct camkes_thread *const worker = camkes_worker_of(holder);
    /* at most contexts times: each once */
    for (uint16_t i = 0; i < cpi->contexts; i++) {
        cpi->context[i].asked = false;
    }
    /* at most payers times: each once */
    for (uint16_t i = 0; i < cpi->payers; i++) {
        cpi->payer[i].asked = false;
    }
    /* at most contexts + payers + 1 times: each is asked once, and then there is none */
    for (;;) {
        struct camkes_context *payer = next_payer(cpi);
        struct camkes_payer *above = next_above(cpi, holder);
        seL4_CPtr time;
        if (above != NULL && (payer == NULL || above->priority >= payer->request)) {
            above->asked = true;
            time = above->time;
        } else if (payer != NULL) {
            payer->asked = true;
            take_away(cpi, payer);
            time = camkes_worker_of(payer)->withdrawn;
        } else {
            return false;
        }
        if (time != 0 && (blocked || has_budget(cpi, time)) &&
            camkes_worker_event(cpi, worker, CAMKES_ON_HELP, time)) {
            return true;
        }
    }
}

static bool holds(struct camkes_cpi *cpi, const struct camkes_context *context)
{
    return camkes_held_by(camkes_lock_of(cpi)) == context->held;
}

/* Finds time for a worker that has faulted; `before` is its state then. */
static bool find_time(struct camkes_cpi *cpi, struct camkes_context *context,
                      struct camkes_thread *worker, enum camkes_worker_state before)
{
    const bool holder = holds(cpi, context);
    const bool extended = before == CAMKES_WORKER_EXTENDED;
    const bool lent = extended || before == CAMKES_WORKER_HELPED; /* what was used up */
    return (holder && cpi->helps && pay(cpi, context, true)) ||
           (lent && camkes_worker_event(cpi, worker, CAMKES_ON_RESTORE, 0)) ||
           ((holder || cpi->unlocked) && !extended &&
            camkes_worker_event(cpi, worker, CAMKES_ON_EXTEND, 0));
}

/* Answers the fault of a worker, which may have come when it got the reply to a Call. */
static void go_on(const struct camkes_thread *worker)
{
    (void)camkes_platform_keep_reply(worker);
    reply();
}

/* Whether a worker that has faulted executes on what it had: only a part of that is used up. The
 * manager may have taken its time away since the fault. */
static bool goes_on(struct camkes_cpi *cpi, struct camkes_thread *worker,
                    const struct camkes_context *context)
{
    if (worker->state == CAMKES_WORKER_WITHDRAWN) {
        return camkes_worker_event(cpi, worker, CAMKES_ON_RESTORE, 0);
    }
    const seL4_CPtr time = take(cpi, worker, context);
    if (time == 0 || camkes_bind(time, worker)) {
        return true; /* if the manager does not know what that is, it waits for its refill */
    }
    return !camkes_worker_event(cpi, worker, CAMKES_ON_WITHDRAW, time);
}

/* Whether its request is answered: then it keeps what it has. */
static bool leaves(const struct camkes_thread *worker)
{
    return worker->replied || camkes_is_aborted(worker->state);
}

/* A budget or a part of one is used up; answers the fault. */
static void time_out(struct camkes_cpi *cpi, struct camkes_thread *worker)
{
    struct camkes_context *const context = worker->context;
    const enum camkes_worker_state before = worker->state;
    if (leaves(worker) || goes_on(cpi, worker, context)) {
        go_on(worker);
        return;
    }
    if (cpi->aborts) {
        camkes_overrun_abort(cpi, worker, holds(cpi, context));
        return;
    }
    const bool found = find_time(cpi, context, worker, before);
    go_on(worker);
    if (!found) {
        camkes_worker_must(cpi, worker, holds(cpi, context) ? CAMKES_ON_STALL : CAMKES_ON_RESTORE);
    }
}

struct camkes_context *camkes_overrun_message(struct camkes_cpi *cpi, seL4_Word badge,
                                              seL4_MessageInfo_t info)
{
    const seL4_Word label = seL4_MessageInfo_get_label(info);
    CAMKES_ASSERT(badge <= 2u * cpi->contexts + cpi->callers);
    struct camkes_thread *worker =
        camkes_worker_of(&cpi->context[badge - cpi->contexts - cpi->callers - 1]);
    CAMKES_ASSERT(worker != NULL);
    if (label == seL4_Fault_Timeout) {
        time_out(cpi, worker);
        return NULL;
    }
    const uint8_t when = camkes_label_priority(label);
    enum camkes_timeout_operation operation;
    if (!camkes_timeout_read(label, &operation) || when > CAMKES_RETURN_NOTHING) {
        camkes_platform_reply(seL4_MessageInfo_new(CAMKES_MESSAGE_OPERATION, 0, 0, 0));
        return NULL;
    }
    /* not covered: each operation has a case */
    switch (operation) {
    case CAMKES_RETURN_TIME:
        return camkes_overrun_return(cpi, worker, (enum camkes_return)when);
    case CAMKES_RESUME:
        camkes_overrun_resume(cpi, camkes_label_detail(label));
        return NULL;
    }
    CAMKES_UNREACHABLE();
}

/* Whether the holder of the lock had no budget when the last one ended, or has none: blocked
 * without one, it gets its time back only when there is some. */
static bool is_stalled(const struct camkes_context *holder)
{
    const struct camkes_thread *const worker = camkes_worker_of(holder);
    return worker->state == CAMKES_WORKER_STALLED || worker->state == CAMKES_WORKER_WITHDRAWN;
}

/* It may have got some since. If not, one that waits pays. */
static void help_stalled(struct camkes_cpi *cpi, struct camkes_context *holder)
{
    struct camkes_thread *const worker = camkes_worker_of(holder);
    if (worker->state == CAMKES_WORKER_STALLED && !withdraw(cpi, worker, holder)) {
        return; /* it is in a nested request */
    }
    const bool funded = has_budget(cpi, worker->withdrawn);
    if (funded || !pay(cpi, holder, false)) {
        (void)camkes_worker_event(cpi, worker, funded ? CAMKES_ON_RESTORE : CAMKES_ON_STALL, 0);
    }
}

void camkes_overrun_lend(struct camkes_cpi *cpi, struct camkes_context *context)
{
    if (cpi->lends) {
        take_away(cpi, context);
    }
}

void camkes_overrun_wait(struct camkes_cpi *cpi, struct camkes_context *holder,
                         struct camkes_context *context)
{
    if (cpi->helps && is_stalled(holder)) {
        take_away(cpi, context);
        help_stalled(cpi, holder);
    }
}

/* The CPI of the nested request of a context, if there is one, learns of one that waits for the
 * context and pays, unless its priority is that of this one, and so came with that. */
static void tell(struct camkes_context *context, uint8_t priority, uint16_t cause)
{
    if (cause != atomic_load(&context->cause) || !atomic_load(&context->paid)) {
        camkes_nested_tell(context, priority, cause);
    }
}

static void add_payer(struct camkes_cpi *cpi, struct camkes_context *context,
                      struct camkes_payer *payer, uint8_t priority)
{
    struct camkes_context *const holder = camkes_waits(context) ? camkes_holder(cpi) : context;
    payer->awaits = (uint16_t)(context - cpi->context + 1);
    payer->priority = priority;
    if (camkes_waits(context) && !cpi->helps) {
        return; /* those that wait for this lock do not pay for its holder */
    }
    CAMKES_ASSERT(holder != NULL);
    tell(holder, priority, payer->id);
    if (cpi->helps && holds(cpi, holder) && is_stalled(holder)) {
        help_stalled(cpi, holder);
    }
}

/* None waits further up for the request of a context any more. */
static void forget(struct camkes_cpi *cpi, const struct camkes_context *context)
{
    /* at most payers times: each once */
    for (uint16_t i = 0; i < cpi->payers; i++) {
        struct camkes_payer *payer = &cpi->payer[i];
        if (awaited_by(cpi, payer) == context) {
            payer->awaits = 0;
        }
    }
}

/* What a task pays with: the first of a task is its own. NULL: it cannot pay. */
static struct camkes_payer *payer_of(const struct camkes_cpi *cpi, uint16_t task)
{
    /* at most payers times: each once */
    for (uint16_t i = 0; i < cpi->payers; i++) {
        if (cpi->payer[i].id == task) {
            return &cpi->payer[i];
        }
    }
    return NULL;
}

void camkes_overrun_raised(struct camkes_cpi *cpi, struct camkes_context *context, uint8_t priority,
                           uint16_t cause)
{
    if (cause == CAMKES_NO_TASK) {
        forget(cpi, context);
    } else if (cpi->lent && cause != context->id) {
        struct camkes_payer *const payer = payer_of(cpi, cause);
        if (payer != NULL) {
            add_payer(cpi, context, payer, priority);
        }
    }
}

void camkes_overrun_tell(struct camkes_cpi *cpi, struct camkes_context *context,
                         const struct camkes_context *waiter)
{
    if (cpi->lends && waiter->request > context->base) {
        tell(context, waiter->request, waiter->id);
    }
}

void camkes_overrun_tell_all(struct camkes_cpi *cpi, struct camkes_context *context)
{
    const bool holder = holds(cpi, context);
    /* at most contexts times: each once */
    for (uint16_t i = 0; holder && i < cpi->contexts; i++) {
        if (camkes_waits(&cpi->context[i])) {
            camkes_overrun_tell(cpi, context, &cpi->context[i]);
        }
    }
    /* at most payers times: each once */
    for (uint16_t i = 0; i < cpi->payers; i++) {
        const struct camkes_payer *payer = &cpi->payer[i];
        if (awaited_by(cpi, payer) == context || (holder && awaits(cpi, payer, context))) {
            tell(context, payer->priority, payer->id);
        }
    }
}

void camkes_overrun_queue(struct camkes_cpi *cpi, struct camkes_context *context)
{
    context->rank = CAMKES_RANKS - 1 - cpi->arrivals++; /* the queue is that of the group */
    /* at most contexts times: each once */
    for (uint16_t i = 0; i < cpi->contexts; i++) {
        if (holds(cpi, &cpi->context[i])) {
            camkes_overrun_wait(cpi, &cpi->context[i], context);
        }
    }
}

/* -- locks: nothing changes for a worker that is passive, as most are -- */

static __attribute__((noinline)) bool leave(struct camkes_cpi *cpi, struct camkes_thread *worker)
{
    camkes_worker_must(cpi, worker, CAMKES_ON_RELEASE);
    return worker->state == CAMKES_WORKER_WITHDRAWN;
}

bool camkes_overrun_leave(struct camkes_cpi *cpi, struct camkes_context *context)
{
    struct camkes_thread *const worker = camkes_worker_of(context);
    return worker->state != CAMKES_WORKER_PASSIVE && leave(cpi, worker);
}

void camkes_overrun_home(struct camkes_cpi *cpi, const struct camkes_context *context)
{
    struct camkes_thread *const worker = camkes_worker_of(context);
    /* its caller does not wait for this budget here: it learns that it is used up when it gets it
     * back, and has a policy, and maybe a lock that others wait for */
    const bool blocked = camkes_worker_event(cpi, worker, CAMKES_ON_RESTORE, 0) ||
                         camkes_worker_event(cpi, worker, CAMKES_ON_FINISH, 0);
    reply();
    if (!blocked) {
        camkes_worker_must(cpi, worker, CAMKES_ON_RESTORE);
    }
}

static __attribute__((noinline)) bool give(struct camkes_cpi *cpi, struct camkes_context *context,
                                           struct camkes_thread *worker)
{
    return !camkes_worker_event(cpi, worker, CAMKES_ON_GIVE, 0) &&
           !(cpi->helps && pay(cpi, context, true));
}

bool camkes_overrun_give(struct camkes_cpi *cpi, struct camkes_context *context)
{
    struct camkes_thread *const worker = camkes_worker_of(context);
    return worker->state != CAMKES_WORKER_PASSIVE && give(cpi, context, worker);
}

void camkes_overrun_granted(struct camkes_cpi *cpi, const struct camkes_context *context)
{
    camkes_worker_must(cpi, camkes_worker_of(context), CAMKES_ON_STALL);
}

#endif
