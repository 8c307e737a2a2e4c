/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Waiting with helpers: a thread that waits for a condition (an event, a semaphore, a condition of
 * a monitor) lends its effective priority to the tasks that can end the wait. docs/protocols.md
 * describes the protocol. All records are static tables of the generated code.
 */
#pragma once

#include <camkes/cpi.h>
#include <camkes/label.h>

/* -- in the instance of the condition -- */

/* A thread of the instance, which may wait for the condition, or signal it. */
struct camkes_condition_user {
    const struct camkes_thread *thread;
    seL4_CPtr manager; /* of the group, badged for this thread and condition */
};

struct camkes_condition {
    const char *name;
    /* signals not yet taken; below 0: minus the number of waiters. In a monitor: that number */
    _Atomic int value;
    const struct camkes_condition_user *user;
    uint16_t users;
};

/* As those of struct camkes_semaphore. */
int camkes_condition_wait(struct camkes_condition *condition);
/* Waits until `time` (ns, as camkes_now()) at the latest. Returns -1 if there was no signal by
 * then. `limit` is that of camkes_condition_post(). */
int camkes_condition_wait_until(struct camkes_condition *condition, uint64_t time, int limit);
int camkes_condition_trywait(struct camkes_condition *condition);
int camkes_condition_post(struct camkes_condition *condition, int limit);

/*
 * In a handler of a CPI of the monitor. The wait gives up its lock, and ends with it after a
 * signal, when those that want it and are more urgent, or as urgent and earlier, have had it: what
 * was waited for may have changed again. A signal (CAMKES_POST: for the first, CAMKES_POST_ALL: for
 * all that wait) without waiters has no effect. A wait without the lock is a fault.
 */
void camkes_monitor_wait(struct camkes_condition *condition);
int camkes_monitor_wait_until(struct camkes_condition *condition, uint64_t time);
void camkes_monitor_signal(struct camkes_condition *condition,
                           enum camkes_waiter_operation operation);

/* -- in the instance of a task that helps, or that a scheduler at user level orders -- */

/* A task whose priority is set while it executes. Its control thread has the context. */
struct camkes_helper {
    struct camkes_context *context;
    uint8_t lowest;  /* of its control thread; its requests have at least `context->base` */
    uint8_t highest; /* the highest priority that it can get */
    bool scheduled;  /* by a scheduler, which does not know of its requests; else by a group */
    seL4_CPtr manager;
    seL4_CPtr authority;
};

/* Badge of its endpoint for the control thread; others are those of a group or a scheduler. */
enum { CAMKES_BADGE_CONTROL = 1 };

/* Entry point of the manager of such a task. */
void camkes_manage_helper(struct camkes_thread *self);

/* -- in the instance of the manager of a group -- */

#define CAMKES_NO_MEMBER 0xffff

/* What has a priority in the group: a task that helps, or a context at a CPI. */
struct camkes_member {
    const char *name;
    uint16_t context; /* plan id */
    uint16_t index;   /* among the contexts of the CPI; of a task 0 */
    uint16_t lock;    /* the first member that can have its lock, CAMKES_NO_MEMBER: a task */
    uint8_t base;
    uint8_t highest;   /* of requests of a task in a band, 0: it makes none here */
    seL4_CPtr manager; /* of the task or CPI */
    seL4_CPtr reply; /* slot for the reply capability of its worker while that waits for the lock */

    uint8_t request; /* priority of such a request, 0: there is none */
    uint8_t effective;
    uint8_t computed; /* effective priority, while that is computed */
    uint16_t cause;   /* plan id of the context that has it as its own */
    bool linked;      /* it has the priority of the requesting member */
    bool waiting;     /* for the lock */
    bool time_over;   /* it waits for the lock after a wait without a signal */
    bool owed;        /* it has the lock, and gets its time when it can execute */
    uint32_t arrival;
    uint16_t holder; /* of the first member of a lock: the lock's holder, if others wait for it */
};

/* Requests of member `from` to member `to`, by the slot that `from` has for the manager of `to`. */
struct camkes_path {
    uint16_t from, to;
    seL4_CPtr slot;
};

/* A condition of the group. */
struct camkes_lender {
    const char *name;
    uint16_t id; /* plan id */
    bool in_monitor;
    uint16_t helpers;
    const uint16_t *helper; /* members */
    /* for waiters that have not arrived yet; below 0: taken by threads whose time was over */
    int signals;
};

/* A thread that may wait for one of the conditions. */
struct camkes_waiter {
    uint16_t condition;
    uint16_t thread;  /* number, for traces */
    uint16_t origin;  /* plan id of the context that it works for */
    uint16_t member;  /* the first that it can be; CAMKES_NO_MEMBER: none */
    uint16_t members; /* how many: those of the CPI of a pool, else 1 */
    uint8_t priority; /* what it lends if it is not a member */
    seL4_CPtr reply;  /* slot for its reply capability while it waits */

    bool waiting;
    uint16_t now; /* the member that it is */
    uint32_t arrival;
    uint64_t until; /* ns, 0: no limit */
};

/* What a thread has that waits for a timer, and then calls another one. */
struct camkes_alarm {
    seL4_CPtr fired;   /* the notification of the timer */
    seL4_CPtr manager; /* the other's endpoint, badged for this thread */
};

/*
 * Conditions, tasks and CPIs among which priorities can be lent: one thread decides all of them.
 * Badges of its endpoint, from 1 up: each member's own thread, callers of each member, waiters, the
 * thread that waits for the timer.
 */
struct camkes_group {
    seL4_CPtr manager;
    seL4_CPtr timer; /* 0: no code waits until a time */
    struct camkes_alarm alarm;
    uint64_t armed; /* when the timer fires, ns, 0: it is stopped */
    struct camkes_member *member;
    const struct camkes_path *path;
    struct camkes_lender *condition;
    struct camkes_waiter *waiter;
    uint16_t members, paths, conditions, waiters;
    uint32_t arrivals;
};

/* Entry points of the manager of a group, and of a thread that calls it, or a scheduler, when its
 * timer fires. That of a group has a higher priority: a wait then ends in time whoever has the
 * ceiling of the group. */
void camkes_manage_group(struct camkes_thread *self);
void camkes_await_timer(struct camkes_thread *self);
