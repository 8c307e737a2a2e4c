/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Conditions with helpers, as threads wait for and signal them. A signal without waiters and a wait
 * that need not block only change `value`. The manager of the group has the queue.
 */
#include "nested.h"

#include <camkes/condition.h>
#include <camkes/error.h>
#include <camkes/label.h>
#include <limits.h>

static void ask(const struct camkes_condition *condition, enum camkes_operation operation)
{
    const struct camkes_thread *self = camkes_self();
    const bool pooled = self->cpi != NULL && self->cpi->pooled;
    const uint16_t index = pooled ? (uint16_t)(self->context - self->cpi->context) : 0;
    for (unsigned i = 0; i < condition->waiters; i++) {
        if (condition->waiter[i].thread == self) {
            camkes_point();
            camkes_ask_manager(condition->waiter[i].manager,
                               camkes_operation_label(operation, 0, index), condition->name);
            camkes_point();
            return;
        }
    }
    camkes_fail("thread %s cannot wait for %s with helpers: it is not a thread of that instance",
                self->name, condition->name);
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

int camkes_condition_wait(struct camkes_condition *condition)
{
    camkes_point();
    if (atomic_fetch_sub(&condition->value, 1) <= 0) {
        ask(condition, CAMKES_WAIT);
    }
    return 0;
}

void camkes_monitor_wait(struct camkes_condition *condition)
{
    atomic_fetch_add(&condition->value, 1); /* with the lock: its holder sees all that wait */
    ask(condition, CAMKES_WAIT);
    atomic_fetch_sub(&condition->value, 1);
}

void camkes_monitor_signal(struct camkes_condition *condition, enum camkes_operation operation)
{
    camkes_point();
    if (atomic_load(&condition->value) > 0) {
        ask(condition, operation);
    }
}

int camkes_condition_post(struct camkes_condition *condition, int limit)
{
    int value = atomic_load(&condition->value);
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
