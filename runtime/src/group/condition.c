/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Conditions with helpers, as threads wait for and signal them. A signal without waiters and a wait
 * that need not block only change `value`. The manager of the group has the queue.
 */
#include "../core/nested.h"

#include <camkes/condition.h>
#include <camkes/error.h>
#include <camkes/label.h>
#include <camkes/timer_protocol_sel4.h>
#include <limits.h>

/* The manager, as the running thread calls it. */
static seL4_CPtr manager_of(const struct camkes_condition *condition)
{
    const struct camkes_thread *self = camkes_self();
    /* at most users times: each once */
    for (unsigned i = 0; i < condition->users; i++) {
        if (condition->user[i].thread == self) {
            return condition->user[i].manager;
        }
    }
    camkes_fail("thread %s cannot wait for %s with helpers: it is not a thread of that instance",
                self->name, condition->name);
}

static seL4_Word own_label(enum camkes_waiter_operation operation)
{
    const struct camkes_thread *self = camkes_self();
    const bool pooled = self->cpi != NULL && self->cpi->pooled;
    const uint16_t index = pooled ? (uint16_t)(self->context - self->cpi->context) : 0;
    return camkes_waiter_label(operation, 0, index);
}

static void ask(const struct camkes_condition *condition, enum camkes_waiter_operation operation)
{
    const seL4_CPtr manager = manager_of(condition);
    camkes_ask_manager(manager, own_label(operation), condition->name);
}

/* Returns whether there was a signal before the time was over. */
static bool ask_until(const struct camkes_condition *condition, uint64_t time)
{
    const seL4_CPtr manager = manager_of(condition);
    camkes_timer_set_message_time(0, time);
    const seL4_Word answer = camkes_call_manager(manager, own_label(CAMKES_WAIT_UNTIL), 2);
    if (answer == CAMKES_TIME_OVER) {
        return false;
    }
    camkes_must_grant(answer, condition->name);
    return true;
}

int camkes_condition_trywait(struct camkes_condition *condition)
{
    int value = atomic_load(&condition->value);
    /* at most 1 time: no other thread changes the value meanwhile */
    while (value > 0) {
        camkes_point();
        if (atomic_compare_exchange_strong(&condition->value, &value, value - 1)) {
            return 0;
        }
    }
    return -1;
}

int camkes_condition_wait(struct camkes_condition *condition)
{
    camkes_point();
    if (atomic_fetch_sub(&condition->value, 1) <= 0) {
        ask(condition, CAMKES_WAIT);
    }
    return 0;
}

/*
 * After its time the thread counts itself out. If it is too late for that, because a signal has
 * been counted for it, it takes that, which may still be on its way to the manager, and passes it
 * on.
 */
int camkes_condition_wait_until(struct camkes_condition *condition, uint64_t time, int limit)
{
    camkes_point();
    if (atomic_fetch_sub(&condition->value, 1) > 0 || ask_until(condition, time)) {
        return 0;
    }
    int value = atomic_load(&condition->value);
    /* at most 1 time: no other thread changes the value meanwhile */
    while (value < 0) {
        camkes_point();
        if (atomic_compare_exchange_strong(&condition->value, &value, value + 1)) {
            return -1;
        }
    }
    ask(condition, CAMKES_SIGNAL_TAKEN);
    (void)camkes_condition_post(condition, limit);
    return -1;
}

/* What the running thread has of others goes back before it gives up the lock. */
static void return_time(void)
{
#if CAMKES_MCS
    const struct camkes_thread *self = camkes_self();
    if (self->cpi != NULL && self->donated != 0) {
        camkes_return_time(self, CAMKES_RETURN_WAIT);
    }
#endif
}

void camkes_monitor_wait(struct camkes_condition *condition)
{
    return_time();
    atomic_fetch_add(&condition->value, 1); /* with the lock: its holder sees all that wait */
    ask(condition, CAMKES_WAIT);
    atomic_fetch_sub(&condition->value, 1);
}

int camkes_monitor_wait_until(struct camkes_condition *condition, uint64_t time)
{
    return_time();
    atomic_fetch_add(&condition->value, 1);
    const bool signalled = ask_until(condition, time);
    atomic_fetch_sub(&condition->value, 1);
    return signalled ? 0 : -1;
}

void camkes_monitor_signal(struct camkes_condition *condition,
                           enum camkes_waiter_operation operation)
{
    camkes_point();
    if (atomic_load(&condition->value) > 0) {
        ask(condition, operation);
    }
}

int camkes_condition_post(struct camkes_condition *condition, int limit)
{
    int value = atomic_load(&condition->value);
    /* at most 1 time: no other thread changes the value meanwhile */
    do {
        camkes_point();
        if (value >= limit) {
            return limit == INT_MAX ? -1 : 0;
        }
    } while (!atomic_compare_exchange_strong(&condition->value, &value, value + 1));
    if (value < 0) {
        ask(condition, CAMKES_POST);
    }
    return 0;
}
