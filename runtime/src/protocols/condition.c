/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Conditions with helpers. The manager of a condition is the only thread that changes its queue and
 * what it lends. Without waiters, a signal is an increment and a wait that need not block a
 * decrement of `value`.
 */
#include "nested.h"

#include <camkes/condition.h>
#include <camkes/error.h>
#include <camkes/label.h>
#include <limits.h>

#define REPLY_LATER (~0u)

static struct camkes_waiter *own_record(const struct camkes_condition *condition,
                                        const struct camkes_thread *self)
{
    for (unsigned i = 0; i < condition->waiters; i++) {
        if (condition->waiter[i].thread == self) {
            return &condition->waiter[i];
        }
    }
    camkes_fail("thread %s cannot wait for %s with helpers: it is not a thread of that instance",
                self->name, condition->name);
}

static void ask(const struct camkes_condition *condition, seL4_CPtr manager,
                enum camkes_operation operation, uint8_t detail)
{
    camkes_point();
    camkes_ask_manager(manager, camkes_operation_label(operation, detail, 0), condition->name);
    camkes_point();
}

int camkes_condition_trywait(struct camkes_condition *condition)
{
    int value = atomic_load(&condition->value);
    while (value > 0) {
        camkes_point();
        if (atomic_compare_exchange_strong(&condition->value, &value, value - 1)) {
            return 0;
        }
    }
    return -1;
}

/* While the thread waits, its manager (if it has one) sends a change of its priority to that of the
 * condition, as it does to the manager of a nested request. */
int camkes_condition_wait(struct camkes_condition *condition)
{
    camkes_point();
    if (camkes_condition_trywait(condition) == 0) {
        return 0;
    }
    struct camkes_thread *self = camkes_self();
    const struct camkes_waiter *own = own_record(condition, self);
    struct camkes_context *context = self->context;
    if (context == NULL) {
        ask(condition, own->manager, CAMKES_WAIT, 0);
        return 0;
    }
    atomic_store(&context->nested, own->manager);
    ask(condition, own->manager, CAMKES_WAIT, 0);
    atomic_store(&context->nested, 0);
    camkes_point();
    if (atomic_load(&context->pushed) == own->manager) {
        camkes_nested_settle(self);
    }
    return 0;
}

/* Adds a signal if there are no waiters; else returns false. */
static bool add_signal(struct camkes_condition *condition, int limit, int *result)
{
    int value = atomic_load(&condition->value);
    do {
        camkes_point();
        if (value < 0) {
            return false;
        }
        *result = value >= limit && limit == INT_MAX ? -1 : 0;
        if (value >= limit) {
            return true;
        }
    } while (!atomic_compare_exchange_strong(&condition->value, &value, value + 1));
    return true;
}

int camkes_condition_post(struct camkes_condition *condition, int limit)
{
    int result = 0;
    if (!add_signal(condition, limit, &result)) {
        const struct camkes_waiter *own = own_record(condition, camkes_self());
        ask(condition, own->manager, CAMKES_POST, limit == 1);
    }
    return result;
}

/* -- the manager -- */

/* What a thread lends now: nothing if it works for no task. */
static uint8_t lends(const struct camkes_thread *thread)
{
    if (thread->context != NULL) {
        return atomic_load(&thread->context->effective);
    }
    return thread->origin == CAMKES_NO_ROUTE ? 0 : thread->priority;
}

/* The waiter of the highest priority, the earliest among equals. NULL: there are none. */
static struct camkes_waiter *first_waiter(const struct camkes_condition *condition)
{
    struct camkes_waiter *first = NULL;
    for (unsigned i = 0; i < condition->waiters; i++) {
        struct camkes_waiter *waiter = &condition->waiter[i];
        if (waiter->waiting &&
            (first == NULL || waiter->priority > first->priority ||
             (waiter->priority == first->priority &&
              (int32_t)(waiter->arrival - first->arrival) < 0))) { /* arrivals wrap around */
            first = waiter;
        }
    }
    return first;
}

/* Lends every helper what the first waiter has; without waiters it takes back what was lent. */
static void lend(struct camkes_condition *condition)
{
    const struct camkes_waiter *first = first_waiter(condition);
    const uint8_t priority = first == NULL ? 0 : first->priority;
    const uint16_t cause = first == NULL ? CAMKES_NO_ROUTE : first->thread->origin;
    for (unsigned i = 0; i < condition->helpers; i++) {
        struct camkes_lender *helper = &condition->helper[i];
        const uint8_t lent = priority > helper->base ? priority : 0;
        if (lent != helper->lent) {
            helper->lent = lent;
            camkes_point();
            camkes_ask_manager(helper->manager, camkes_operation_label(CAMKES_LEND, lent, cause),
                               condition->name);
        }
    }
}

/* Takes a signal and returns true, or else counts a waiter. */
static bool take_or_count(struct camkes_condition *condition)
{
    int value = atomic_load(&condition->value);
    for (;;) {
        camkes_point();
        if (atomic_compare_exchange_strong(&condition->value, &value, value - 1)) {
            return value > 0;
        }
    }
}

static unsigned wait_for(struct camkes_condition *condition, struct camkes_waiter *waiter)
{
    if (waiter->waiting) {
        return CAMKES_MESSAGE_OPERATION;
    }
    if (take_or_count(condition)) {
        return CAMKES_MESSAGE_GOOD;
    }
    const seL4_Error error = camkes_platform_save_caller(waiter->reply);
    if (error != seL4_NoError) {
        camkes_fail("a reply to thread %s, which waits for %s, cannot be kept: kernel error %d",
                    waiter->thread->name, condition->name, (int)error);
    }
    waiter->waiting = true;
    waiter->priority = lends(waiter->thread);
    waiter->arrival = condition->arrivals++;
    condition->queued++;
    CAMKES_TRACE_ABOUT(COND_WAIT, waiter->thread->number, condition->id, waiter->thread->origin,
                       waiter->priority);
    lend(condition);
    return REPLY_LATER;
}

/* What was lent is taken back before the waiter runs: a helper that is no more urgent than the
 * waiter then does not run on. */
static unsigned signal_one(struct camkes_condition *condition, int limit)
{
    struct camkes_waiter *waiter = first_waiter(condition);
    if (waiter == NULL) {
        int result = 0;
        return add_signal(condition, limit, &result) ? CAMKES_MESSAGE_GOOD
                                                     : CAMKES_MESSAGE_OPERATION;
    }
    waiter->waiting = false;
    condition->queued--;
    atomic_fetch_add(&condition->value, 1);
    CAMKES_TRACE_ABOUT(COND_WAKE, waiter->thread->number, condition->id, waiter->thread->origin);
    lend(condition);
    camkes_point();
    seL4_Send(waiter->reply, seL4_MessageInfo_new(0, 0, 0, 0));
    camkes_point();
    return CAMKES_MESSAGE_GOOD;
}

/* The priority of a thread changed, which may wait. */
static unsigned change(struct camkes_condition *condition, struct camkes_waiter *waiter)
{
    if (waiter->waiting) {
        waiter->priority = lends(waiter->thread);
        lend(condition);
    }
    return CAMKES_MESSAGE_GOOD;
}

static unsigned step(struct camkes_condition *condition, seL4_Word badge, seL4_MessageInfo_t info)
{
    const seL4_Word label = seL4_MessageInfo_get_label(info);
    if (badge == 0 || badge > condition->waiters) {
        return CAMKES_MESSAGE_BADGE;
    }
    struct camkes_waiter *waiter = &condition->waiter[badge - 1];
    switch (camkes_bits(label, 0, 4)) {
    case CAMKES_WAIT:
        return wait_for(condition, waiter);
    case CAMKES_POST:
        return signal_one(condition, camkes_bits(label, 4, 8) != 0 ? 1 : INT_MAX);
    case CAMKES_UPDATE:
    case CAMKES_LOWER:
        return change(condition, waiter);
    default:
        return CAMKES_MESSAGE_OPERATION;
    }
}

void camkes_manage_condition(struct camkes_thread *self)
{
    struct camkes_condition *condition = self->interface;
    unsigned error = REPLY_LATER;
    seL4_Word badge = 0;
    for (;;) {
        const seL4_MessageInfo_t reply =
            seL4_MessageInfo_new(error == REPLY_LATER ? CAMKES_MESSAGE_GOOD : error, 0, 0, 0);
        const seL4_MessageInfo_t info =
            error == REPLY_LATER ? camkes_platform_receive(condition->manager, &badge)
                                 : camkes_platform_reply_receive(condition->manager, reply, &badge);
        error = step(condition, badge, info);
        camkes_point();
    }
}
