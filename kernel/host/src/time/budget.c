/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Scheduling contexts of an MCS kernel: which thread uses which, and the threads that wait for a
 * refill. Time that passes while a thread runs is noted in kernel->consumed, and charged when
 * another context is used, or earlier where that is asked for.
 */
#include "time/budget.h"
#include "objects/operations.h"
#include "record/output.h"
#include "time/refill.h"
#include "scheduling/scheduling.h"

/* ---- which thread uses which ---- */

static void settle(struct thread *thread)
{
    thread->timeless = !thread->context || !thread->context->context->most || thread->postponed;
}

static void take_from_postponed(struct thread *thread)
{
    if (thread->postponed) {
        queue_remove(&kernel->postponed, thread);
        thread->postponed = false;
        settle(thread);
    }
}

/* Something decides again who runs, if this thread was to run next. */
static void reconsider(const struct thread *thread)
{
    if (kernel->action == ACTION_SWITCH && thread == kernel->candidate) {
        ready_again();
    }
}

static void show(const struct object *object)
{
    const struct context *context = object->context;
    TRACE(BUDGET, context->thread, NULL, object->number, context->budget,
          context->period ? context->period : context->budget, context->most, context->sporadic);
}

static void attach(struct object *object, struct thread *thread)
{
    object->context->thread = thread;
    thread->context = object;
    settle(thread);
}

static void detach(struct object *object)
{
    struct thread *thread = object->context->thread;
    take_from_postponed(thread);
    ready_remove(thread);
    thread->context = NULL;
    object->context->thread = NULL;
    settle(thread);
    reconsider(thread);
}

void budget_donate(struct object *object, struct thread *to, enum camkes_bind how)
{
    struct thread *from = object->context->thread;
    if (from) {
        detach(object);
    }
    attach(object, to);
    TRACE(BIND, to, from, object->number, how);
}

void budget_bind(struct object *object, struct thread *thread, struct thread *by)
{
    attach(object, thread);
    TRACE(BIND, thread, by, object->number, CAMKES_BIND_BOUND);
    budget_unblock(thread);
    if (thread->state == THREAD_RUNNING) {
        ready_again();
        ready_prepend(thread);
    }
}

void budget_unbind(struct object *object, struct thread *by)
{
    if (object->context->thread) {
        detach(object);
        TRACE(BIND, NULL, by, object->number, CAMKES_BIND_UNBOUND);
    }
}

/* What the signal of a notification brings a thread. */
void budget_lend(struct object *notification, struct thread *thread)
{
    struct object *object = notification->notification.context;
    if (object && !thread->context && !object->context->thread) {
        budget_donate(object, thread, CAMKES_BIND_SIGNAL);
    }
    budget_unblock(thread);
}

/* And what it gives back when it waits for the next one. */
void budget_return(struct object *notification, struct thread *thread)
{
    struct object *object = notification->notification.context;
    if (object && thread->context == object) {
        detach(object);
        TRACE(BIND, NULL, thread, object->number, CAMKES_BIND_UNBOUND);
    }
}

/* For the trace: how things are at the start. */
void budget_show(void)
{
    for (unsigned i = 0; i < kernel->object_count; i++) {
        const struct object *object = &kernel->objects[i];
        if (object->kind == OBJECT_CONTEXT && object->context->most > 0) {
            show(object);
            TRACE(BIND, object->context->thread, NULL, i, CAMKES_BIND_BOUND);
        }
    }
}

/* ---- refills ---- */

/* Below this, what is left is as nothing. */
static uint64_t least(void)
{
    return kernel->options.least_budget > 1 ? kernel->options.least_budget : 1;
}

/* Whether a thread can run on it now, if only in no time. */
bool budget_ready(const struct object *object)
{
    const struct context *context = object->context;
    return refill_ready(context, kernel->now) || context->spent == kernel->now + 1;
}

/* The thread waits for the refill of its context. */
void budget_postpone(struct thread *thread)
{
    const uint64_t time = thread->context->context->refills[0].time;
    struct thread *previous = kernel->postponed.tail;
    if (thread->postponed) {
        return;
    }
    ready_remove(thread);
    while (previous && previous->context->context->refills[0].time > time) {
        previous = previous->previous;
    }
    queue_insert(&kernel->postponed, thread, previous);
    thread->postponed = true;
    settle(thread);
    reconsider(thread);
    TRACE(POSTPONE, thread, NULL, thread->context->number, time);
}

/* A thread is about to be runnable. */
void budget_unblock(struct thread *thread)
{
    struct object *object = thread->context;
    if (!object || !object->context->most) {
        return;
    }
    if (object->context->sporadic && object != kernel->context) {
        refill_unblock(object->context, kernel->now);
    }
    if (!budget_ready(object)) {
        budget_postpone(thread);
    }
}

/* The thread is not runnable any more. */
void budget_forget(struct thread *thread)
{
    take_from_postponed(thread);
}

/* Charges what was consumed to the context that is used. */
void budget_charge(void)
{
    struct object *object = kernel->context;
    const uint64_t used = kernel->consumed;
    kernel->consumed = 0;
    if (!object || !object->context->most || used == 0) {
        return;
    }
    struct context *context = object->context;
    context->consumed += used;
    refill_charge(context, used, least());
    const bool left = refill_ready(context, kernel->now);
    context->spent = left ? 0 : kernel->now + 1;
    TRACE(CHARGE, kernel->shown, context->thread, object->number, used,
          left ? context->refills[0].amount : 0);
}

/* The context of the thread that runs is used from now on; nothing is to be charged to another. */
void budget_follow(void)
{
    struct object *next = kernel->current ? kernel->current->context : NULL;
    if (next != kernel->context && next && !next->context->sporadic) {
        refill_unblock(next->context, kernel->now);
    }
    kernel->context = next;
}

/* What is left to the thread that runs. */
uint64_t budget_left(void)
{
    const struct context *context = kernel->context->context;
    return refill_ready(context, kernel->now) ? context->refills[0].amount - kernel->consumed : 0;
}

/* Whether it is too little for time to pass. */
bool budget_is_spent(void)
{
    return budget_left() < least();
}

/* Microseconds since it was last asked for. */
uint64_t budget_take_consumed(struct object *object)
{
    struct context *context = object->context;
    if (object == kernel->context) {
        budget_charge();
    }
    const uint64_t consumed = context->consumed / 1000;
    context->consumed %= 1000;
    return consumed;
}

/* In ns. A context that is in use keeps to its budget in every period. */
void budget_configure(struct object *object, const struct context *wanted)
{
    struct context *context = object->context;
    struct thread *thread = context->thread;
    const uint64_t period = wanted->budget == wanted->period ? 0 : wanted->period;
    if (object == kernel->context) {
        budget_charge();
    }
    if (thread) {
        take_from_postponed(thread);
        ready_remove(thread);
    }
    if (period > 0 && context->most > 0 && thread && thread->state == THREAD_RUNNING) {
        refill_update(context, wanted->most, wanted->budget, period, kernel->now);
    } else {
        refill_new(context, wanted->most, wanted->budget, period, kernel->now);
    }
    context->badge = wanted->badge;
    context->sporadic = wanted->sporadic;
    show(object);
    if (!thread) {
        return;
    }
    settle(thread);
    if (thread->state == THREAD_RUNNING) {
        if (!budget_ready(object)) {
            budget_postpone(thread);
        }
        if (thread == kernel->current) {
            ready_again();
        } else {
            ready_wake(thread);
        }
    }
}

/* ---- the passing of time ---- */

/* When the next thread gets its refill. */
uint64_t budget_next(void)
{
    const struct thread *first = kernel->postponed.head;
    return first ? first->context->context->refills[0].time : UINT64_MAX;
}

/* Threads whose refills can be used now are runnable again. Whether there was one. */
bool budget_release_due(void)
{
    bool due = false;
    while (budget_next() <= kernel->now && kernel->now < kernel->options.until) {
        struct thread *thread = kernel->postponed.head;
        /* first: with it, a search looks at the time that has passed, in which the thread had none
         */
        TRACE(RELEASE, thread, NULL, thread->context->number);
        take_from_postponed(thread);
        ready_wake(thread);
        due = true;
    }
    return due;
}
