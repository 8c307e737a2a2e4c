/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * The manager of a CPI: the only thread that changes the queue of waiters and the priorities of the
 * CPI's workers, so that no further lock is needed.
 */
#include "check.h"
#include "fatal.h"
#include "nested.h"
#include "../time/overrun.h"
#include "queue.h"

#include <camkes/instance.h>
#include <camkes/label.h>

/*
 * Result of a step: the label of the reply (an error or CAMKES_MESSAGE_GOOD), or that there is none
 * now. A reply that is saved can be sent at any time, one that is kept only as the next thing that
 * the manager does with its endpoint: it waits at `wake` until then.
 */
enum { REPLY_SAVED = 1 << 8, REPLY_KEPT };

static bool holds_lock(struct camkes_cpi *cpi, const struct camkes_context *context)
{
    return camkes_held_by(&cpi->lock) == context->held;
}

CAMKES_INLINE_HERE void set_priority(struct camkes_cpi *cpi, struct camkes_context *context,
                                     uint8_t priority)
{
    const struct camkes_thread *worker = atomic_load(&context->worker);
    if (worker != NULL) {
        camkes_set_priority(worker, cpi->authority, priority);
    }
}

/* Changes the effective priority of a context; it is inherited from `cause`, which pays or not. */
CAMKES_INLINE_HERE void change(struct camkes_cpi *cpi, struct camkes_context *context,
                               uint8_t before, uint8_t priority, uint16_t cause, bool paid)
{
    atomic_store(&context->cause, cause);
    camkes_overrun_set_paid(context, paid);
    atomic_store(&context->effective, priority);
    CAMKES_TRACE(INHERIT, cpi->id, context->id, before, priority, cause);
    set_priority(cpi, context, priority);
    camkes_point();
}

/* Sets the priority of its own request, which comes from `cause`, or of the first waiter if that is
 * higher and it holds the lock. */
static void inherit(struct camkes_cpi *cpi, struct camkes_context *context, bool holds,
                    uint16_t cause, bool paid)
{
    if (camkes_overrun_at_ceiling(cpi)) {
        return;
    }
    const struct camkes_context *source = camkes_queue_source(cpi, context, holds);
    const uint8_t before = atomic_load(&context->effective), priority = source->request;
    if (priority == before) {
        return;
    }
    const bool own = source == context;
    change(cpi, context, before, priority, own ? cause : source->id,
           own ? paid : camkes_overrun_helps(cpi));
    if (priority > before) {
        camkes_nested_push(context);
    } else {
        camkes_nested_fall(context);
    }
}

/* The same for the holder of the lock. */
static void inherit_waiters(struct camkes_cpi *cpi)
{
    struct camkes_context *held_by = camkes_holder(cpi);
    CAMKES_ASSERT(held_by != NULL); /* others wait for it */
    inherit(cpi, held_by, true, held_by->id, false);
}

/* Changes the priority of a request, whether or not it waits. */
CAMKES_INLINE_HERE void change_request(struct camkes_cpi *cpi, struct camkes_context *context,
                                       uint8_t priority)
{
    if (camkes_waits(context)) {
        camkes_queue_change(cpi, (uint16_t)(context - cpi->context), priority);
    } else {
        context->request = priority;
    }
}

/* Takes the lock if it is free and returns true; else marks it with `flags`. */
static bool take_or_mark(_Atomic uintptr_t *lock, const struct camkes_context *context,
                         uintptr_t flags)
{
    uintptr_t word = atomic_load(lock);
    bool taken;
    do {
        camkes_point();
        taken = word == 0;
        /* at most 1 time: the manager is above all that could change the word in between */
    } while (!atomic_compare_exchange_strong(lock, &word, taken ? context->held : word | flags));
    return taken;
}

static unsigned acquire(struct camkes_cpi *cpi, uint16_t index)
{
    struct camkes_context *context = &cpi->context[index];
    const struct camkes_thread *worker = atomic_load(&context->worker);
    if (worker == NULL || camkes_waits(context) || holds_lock(cpi, context)) {
        return CAMKES_MESSAGE_OPERATION;
    }
    const bool kept = cpi->wake != 0; /* only one context can wait */
    if (take_or_mark(&cpi->lock, context, CAMKES_WAITERS | (kept ? CAMKES_MANAGER_WAITS : 0))) {
        CAMKES_TRACE(LOCK_TAKE, cpi->id, context->id);
        return CAMKES_MESSAGE_GOOD;
    }
    if (!kept) {
        camkes_keep_reply(&context->reply, &worker->name);
    }
    CAMKES_ASSERT(!kept || cpi->first == 0);
    camkes_overrun_lend(cpi, context);
    camkes_queue_insert(cpi, index);
    CAMKES_TRACE_ABOUT(LOCK_WAIT, worker->number, cpi->id, context->id, context->request);
    inherit_waiters(cpi);
    camkes_overrun_wait(cpi, camkes_holder(cpi), context);
    camkes_overrun_tell(cpi, camkes_holder(cpi), context);
    return kept ? REPLY_KEPT : REPLY_SAVED;
}

/* Ends the inheritance of the releasing worker and gives the lock to the first waiter, whose reply
 * is still to be sent. */
static struct camkes_context *hand_over(struct camkes_cpi *cpi, struct camkes_context *from)
{
    inherit(cpi, from, false, from->id, false); /* first: it may be ready */
    camkes_point();
    CAMKES_TRACE(LOCK_FREE, cpi->id, from->id);
    CAMKES_ASSERT(cpi->first != 0);
    const uint16_t next = camkes_queue_take(cpi);
    struct camkes_context *to = &cpi->context[next];
    /* no other waiter is more urgent, so that it has the priority of its own request */
    CAMKES_ASSERT(camkes_overrun_at_ceiling(cpi) || atomic_load(&to->effective) == to->request);
    atomic_store(&cpi->lock, to->held | (cpi->first != 0 ? CAMKES_WAITERS : 0));
    CAMKES_TRACE_ABOUT(LOCK_GRANT, atomic_load(&to->worker)->number, cpi->id, to->id);
    return to;
}

/* The lock goes to the first waiter, or is free. */
static void pass_on(struct camkes_cpi *cpi, struct camkes_context *from)
{
    if (cpi->first != 0) {
        struct camkes_context *to = hand_over(cpi, from);
        const bool owed = camkes_overrun_give(cpi, to);
        seL4_Send(to->reply, seL4_MessageInfo_new(0, 0, 0, 0));
        if (owed) {
            camkes_overrun_granted(cpi, to);
        }
    } else {
        CAMKES_TRACE(LOCK_FREE, cpi->id, from->id);
        atomic_store(&cpi->lock, 0);
    }
}

static unsigned release(struct camkes_cpi *cpi, uint16_t index)
{
    struct camkes_context *from = &cpi->context[index];
    if (!holds_lock(cpi, from)) {
        return CAMKES_MESSAGE_OPERATION;
    }
    const bool lent = camkes_overrun_leave(cpi, from);
    if (cpi->first == 0 && !CAMKES_MCS) {
        return CAMKES_MESSAGE_OPERATION; /* the lock has no waiters; nor had it time of others */
    }
    pass_on(cpi, from);
    if (lent) {
        camkes_overrun_home(cpi, from);
        return REPLY_SAVED;
    }
    return CAMKES_MESSAGE_GOOD;
}

/* Waits, with the reply of the waiter, for the release of the lock or a message of its holder. */
static CAMKES_APART unsigned release_or_message(struct camkes_cpi *cpi)
{
    camkes_platform_wait(cpi->wake);
    uintptr_t word = atomic_load(&cpi->lock);
    do {
        if ((word & CAMKES_RELEASED) != 0) {
            (void)hand_over(cpi, camkes_holder(cpi));
            return CAMKES_MESSAGE_GOOD; /* to the waiter */
        }
        camkes_point();
        /* at most 1 time: the same */
    } while (!atomic_compare_exchange_strong(&cpi->lock, &word, word & ~CAMKES_MANAGER_WAITS));
    CAMKES_ASSERT(cpi->first != 0); /* only the manager takes waiters off */
    struct camkes_context *const waiter = &cpi->context[cpi->first - 1];
    camkes_keep_reply(&waiter->reply, &atomic_load(&waiter->worker)->name);
    return REPLY_SAVED;
}

static unsigned begin(struct camkes_cpi *cpi, struct camkes_context *context, uint16_t thread)
{
    if (thread >= cpi->threads || atomic_load(&context->worker) != NULL) {
        return CAMKES_MESSAGE_OPERATION;
    }
    atomic_store(&context->worker, cpi->pool[thread]);
    set_priority(cpi, context, atomic_load(&context->effective));
    return CAMKES_MESSAGE_GOOD;
}

static unsigned end(struct camkes_cpi *cpi, struct camkes_context *context, uint16_t thread)
{
    if (thread >= cpi->threads || camkes_waits(context) || holds_lock(cpi, context) ||
        atomic_load(&context->worker) != cpi->pool[thread]) {
        return CAMKES_MESSAGE_OPERATION;
    }
    set_priority(cpi, context, cpi->ceiling);
    atomic_store(&context->worker, NULL);
    return CAMKES_MESSAGE_GOOD;
}

/* The priority of a caller has changed to that of `cause`, which pays for the request or not. */
CAMKES_INLINE_HERE unsigned update(struct camkes_cpi *cpi, const struct camkes_caller *caller,
                                   seL4_Word label, bool paid, bool falls)
{
    struct camkes_context *context = &cpi->context[caller->context];
    const uint16_t cause = camkes_label_detail(label);
    uint8_t priority = camkes_label_priority(label);
    if (priority > caller->bound) {
        return CAMKES_MESSAGE_PRIORITY;
    }
    CAMKES_TRACE(UPDATE, cpi->id, context->id, priority);
    priority = falls && priority < context->base ? context->base : priority;
    if (priority > context->request || (falls && priority != context->request)) {
        change_request(cpi, context, priority);
        inherit(cpi, context, holds_lock(cpi, context), cause, paid);
    }
    camkes_overrun_raised(cpi, context, priority, paid ? cause : context->id);
    if (camkes_waits(context)) {
        inherit_waiters(cpi);
    }
    return CAMKES_MESSAGE_GOOD;
}

/* The request of a caller with a raised priority ended. */
static unsigned clear(struct camkes_cpi *cpi, const struct camkes_caller *caller)
{
    struct camkes_context *context = &cpi->context[caller->context];
    if (camkes_waits(context)) {
        return CAMKES_MESSAGE_OPERATION; /* the request still waits for the lock */
    }
    CAMKES_TRACE(CLEAR, cpi->id, context->id);
    context->request = context->base;
    camkes_overrun_raised(cpi, context, 0, CAMKES_NO_TASK);
    inherit(cpi, context, holds_lock(cpi, context), context->id, false);
    return CAMKES_MESSAGE_GOOD;
}

/* The base priority of a context changes with the criticality of the system: whether or not it is
 * in a request, in which it keeps what it inherits. */
static unsigned rebase(struct camkes_cpi *cpi, struct camkes_context *context, uint8_t base)
{
    if (context->request == context->base || context->request < base) {
        change_request(cpi, context, base);
    }
    context->base = base;
    inherit(cpi, context, holds_lock(cpi, context), context->id, false);
    if (camkes_waits(context)) {
        inherit_waiters(cpi);
    }
    if (atomic_load(&context->effective) > base) {
        camkes_nested_push(context); /* the CPI of its nested request had that as its base */
    }
    return CAMKES_MESSAGE_GOOD;
}

static unsigned step_of_caller(struct camkes_cpi *cpi, const struct camkes_caller *caller,
                               seL4_Word label)
{
    enum camkes_caller_operation operation;
    if (!camkes_caller_read(label, &operation)) {
        return CAMKES_MESSAGE_OPERATION;
    }
    /* not covered: each operation has a case */
    switch (operation) {
    case CAMKES_UPDATE:
    case CAMKES_RAISE:
    case CAMKES_FALL:
        return update(cpi, caller, label, operation == CAMKES_UPDATE,
                      CAMKES_MCS && operation == CAMKES_FALL);
    case CAMKES_CLEAR:
        return clear(cpi, caller);
    }
    CAMKES_UNREACHABLE();
}

static unsigned step_of_worker(struct camkes_cpi *cpi, uint16_t index, seL4_Word label)
{
    const uint16_t thread = camkes_label_detail(label);
    enum camkes_worker_operation operation;
    if (!camkes_worker_read(label, &operation)) {
        return CAMKES_MESSAGE_OPERATION;
    }
    /* not covered: each operation has a case */
    switch (operation) {
    case CAMKES_ACQUIRE_LOCK:
        return acquire(cpi, index);
    case CAMKES_RELEASE_LOCK:
        return release(cpi, index);
    case CAMKES_BEGIN_REQUEST:
        return begin(cpi, &cpi->context[index], thread);
    case CAMKES_END_REQUEST:
        return end(cpi, &cpi->context[index], thread);
    case CAMKES_SETTLE:
        return CAMKES_MESSAGE_GOOD; /* earlier messages of the manager have been sent by now */
    case CAMKES_TELL:
        camkes_overrun_tell_all(cpi, &cpi->context[index]);
        return CAMKES_MESSAGE_GOOD;
    }
    CAMKES_UNREACHABLE();
}

/* From the time manager, about the context of an index. */
static unsigned step_of_time(struct camkes_cpi *cpi, seL4_Word index, seL4_Word label)
{
    enum camkes_time_operation operation;
    if (!camkes_time_read(label, &operation)) {
        return CAMKES_MESSAGE_OPERATION;
    }
    /* not covered: each operation has a case */
    switch (operation) {
    case CAMKES_SET_BASE:
        CAMKES_ASSERT(index < cpi->contexts);
        return rebase(cpi, &cpi->context[index], camkes_label_priority(label));
    }
    CAMKES_UNREACHABLE();
}

/* Badges from 1 up are workers, those after them callers. NULL: it is not that of a caller. */
static const struct camkes_caller *caller_of(const struct camkes_cpi *cpi, seL4_Word badge)
{
    return camkes_caller(cpi, badge - cpi->contexts);
}

static CAMKES_APART unsigned step(struct camkes_cpi *cpi, seL4_Word badge, seL4_MessageInfo_t info)
{
    const seL4_Word label = seL4_MessageInfo_get_label(info);
    if (CAMKES_MCS && badge == CAMKES_BADGE_TIME_MANAGER) {
        return step_of_time(cpi, seL4_GetMR(0), label);
    }
    if (camkes_is_timeout(cpi, badge)) {
        struct camkes_context *aborted = camkes_overrun_message(cpi, badge, info);
        if (aborted != NULL && holds_lock(cpi, aborted)) {
            pass_on(cpi, aborted);
        }
        return REPLY_SAVED;
    }
    const struct camkes_caller *caller = caller_of(cpi, badge);
    if (caller == NULL && badge - 1 >= cpi->contexts) {
        return CAMKES_MESSAGE_BADGE;
    }
    if (seL4_MessageInfo_get_length(info) != 0) {
        return CAMKES_MESSAGE_TOO_LONG;
    }
    if (label >> CAMKES_OPERATION_BITS != 0) {
        return CAMKES_MESSAGE_LABEL;
    }
    return caller != NULL ? step_of_caller(cpi, caller, label)
                          : step_of_worker(cpi, (uint16_t)(badge - 1), label);
}

static seL4_MessageInfo_t refuse(const struct camkes_cpi *cpi, seL4_Word badge, unsigned error)
{
    const struct camkes_caller *caller = caller_of(cpi, badge);
    return camkes_refuse(cpi->place, badge, caller != NULL ? caller->sender_id : 0, error);
}

void camkes_manage_cpi(struct camkes_thread *self)
{
    struct camkes_cpi *cpi = self->cpi;
    unsigned error = REPLY_SAVED;
    seL4_Word badge = 0;
    for (;;) {
        if (error == REPLY_KEPT) {
            error = release_or_message(cpi);
            camkes_check_cpi(cpi);
            continue;
        }
        const seL4_MessageInfo_t reply = error == CAMKES_MESSAGE_GOOD || error == REPLY_SAVED
                                             ? seL4_MessageInfo_new(0, 0, 0, 0)
                                             : refuse(cpi, badge, error);
        const seL4_MessageInfo_t info =
            error == REPLY_SAVED ? camkes_platform_receive(cpi->manager, &badge)
                                 : camkes_platform_reply_receive_label(cpi->manager, reply, &badge);
        error = step(cpi, badge, info);
        camkes_check_cpi(cpi);
    }
}

/* -- as a member of a group, whose manager sends all its messages -- */

static unsigned take_for(struct camkes_cpi *cpi, struct camkes_context *context, seL4_Word *result)
{
    const struct camkes_thread *worker = atomic_load(&context->worker);
    if (worker == NULL || camkes_held_by(camkes_lock_of(cpi)) == context->held) {
        return CAMKES_MESSAGE_OPERATION;
    }
    if (take_or_mark(camkes_lock_of(cpi), context, CAMKES_WAITERS)) {
        CAMKES_TRACE(LOCK_TAKE, cpi->id, context->id);
        return CAMKES_MESSAGE_GOOD;
    }
    CAMKES_TRACE_ABOUT(LOCK_WAIT, worker->number, cpi->id, context->id,
                       atomic_load(&context->effective));
    *result = camkes_held_by(camkes_lock_of(cpi));
    camkes_overrun_queue(cpi, context);
    return CAMKES_MESSAGE_GOOD;
}

static unsigned give_to(struct camkes_cpi *cpi, struct camkes_context *to, bool more, uint16_t from,
                        seL4_Word *result)
{
    CAMKES_TRACE(LOCK_FREE, cpi->id, from);
    atomic_store(camkes_lock_of(cpi), to->held | (more ? CAMKES_WAITERS : 0));
    CAMKES_TRACE_ABOUT(LOCK_GRANT, atomic_load(&to->worker)->number, cpi->id, to->id);
    to->rank = 0;
    *result = camkes_overrun_give(cpi, to);
    return CAMKES_MESSAGE_GOOD;
}

static unsigned free_of(struct camkes_cpi *cpi, const struct camkes_context *context)
{
    if (camkes_held_by(camkes_lock_of(cpi)) != context->held) {
        return CAMKES_MESSAGE_OPERATION;
    }
    CAMKES_TRACE(LOCK_FREE, cpi->id, context->id);
    atomic_store(camkes_lock_of(cpi), 0);
    return CAMKES_MESSAGE_GOOD;
}

static CAMKES_APART unsigned step_of_member(struct camkes_cpi *cpi, seL4_Word label,
                                            seL4_Word *result)
{
    const seL4_Word index = seL4_GetMR(0);
    CAMKES_ASSERT(index < cpi->contexts);
    struct camkes_context *context = &cpi->context[index];
    const uint8_t priority = camkes_label_priority(label);
    const uint16_t detail = camkes_label_detail(label);
    const uint8_t before = atomic_load(&context->effective);
    enum camkes_member_operation operation;
    if (!camkes_member_read(label, &operation)) {
        return CAMKES_MESSAGE_OPERATION;
    }
    /* not covered: each operation has a case */
    switch (operation) {
    case CAMKES_SET_PRIORITY:
        change(cpi, context, before, priority, detail, false);
        *result = priority > before ? camkes_nested_found(context) : 0;
        return CAMKES_MESSAGE_GOOD;
    case CAMKES_FIND_NESTED:
        *result = camkes_nested_found(context);
        return CAMKES_MESSAGE_GOOD;
    case CAMKES_TAKE_LOCK:
        return take_for(cpi, context, result);
    case CAMKES_GIVE_LOCK:
        return give_to(cpi, context, priority != 0, detail, result);
    case CAMKES_GRANTED:
        camkes_overrun_granted(cpi, context);
        return CAMKES_MESSAGE_GOOD;
    case CAMKES_FREE_LOCK:
        return free_of(cpi, context);
    case CAMKES_MEMBER_BEGIN:
        return begin(cpi, context, detail);
    case CAMKES_MEMBER_END:
        return end(cpi, context, detail);
    }
    CAMKES_UNREACHABLE();
}

void camkes_manage_member(struct camkes_thread *self)
{
    struct camkes_cpi *cpi = self->cpi;
    seL4_Word badge = 0;
    seL4_MessageInfo_t info = camkes_platform_receive(cpi->manager, &badge);
    for (;;) {
        seL4_Word result = 0;
        if (camkes_is_timeout(cpi, badge)) {
            (void)camkes_overrun_message(cpi, badge, info); /* its worker gives up the lock */
            camkes_check_member(cpi);
            info = camkes_platform_receive(cpi->manager, &badge);
            continue;
        }
        const unsigned error = step_of_member(cpi, seL4_MessageInfo_get_label(info), &result);
        camkes_check_member(cpi);
        seL4_SetMR(0, result);
        info = camkes_platform_reply_receive(cpi->manager, seL4_MessageInfo_new(error, 0, 0, 1),
                                             &badge);
    }
}
