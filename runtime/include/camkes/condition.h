/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Waiting with helpers: who waits for a condition (an event or a semaphore) lends its effective
 * priority to the tasks that can end the wait. docs/protocols.md describes the protocol. All
 * records are static tables of the generated code.
 */
#pragma once

#include <camkes/cpi.h>

/* A thread of the instance, which may wait for a condition. */
struct camkes_waiter {
    const struct camkes_thread *thread;
    seL4_CPtr manager; /* the manager's endpoint, badged for this thread */
    seL4_CPtr reply;   /* slot for its reply capability while it waits */

    /* written by the manager */
    uint8_t priority; /* what it lends: 0 if it works for no task */
    bool waiting;
    uint32_t arrival;
};

/* A task that can end the wait, and whose own priority is below the condition's ceiling. */
struct camkes_lender {
    seL4_CPtr manager; /* of the task, badged for this condition */
    uint8_t base;      /* priority of the task */
    uint8_t lent;      /* the priority sent to it last */
};

struct camkes_condition {
    const char *name;
    uint16_t id;       /* id in the plan */
    _Atomic int value; /* signals not yet taken; below 0: minus the number of waiters */
    seL4_CPtr manager;
    struct camkes_waiter *waiter;
    uint16_t waiters;
    struct camkes_lender *helper;
    uint16_t helpers;
    uint16_t queued;
    uint32_t arrivals;
};

/* As those of struct camkes_semaphore. */
int camkes_condition_wait(struct camkes_condition *condition);
int camkes_condition_trywait(struct camkes_condition *condition);
int camkes_condition_post(struct camkes_condition *condition, int limit);

/* Entry point of the manager of a condition. */
void camkes_manage_condition(struct camkes_thread *self);

/* A task that others can lend priorities to. Its control thread has the context. */
struct camkes_helper {
    const char *name;
    struct camkes_context *context;
    uint8_t highest; /* the highest priority that can be lent */
    seL4_CPtr manager;
    seL4_CPtr authority;
    uint8_t *lent; /* by each condition */
    uint16_t conditions;
};

/* Entry point of the manager of a helper. */
void camkes_manage_helper(struct camkes_thread *self);
