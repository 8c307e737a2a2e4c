/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * The time manager of a system on an MCS kernel: an address space of its own, without code of a
 * component, which alone may configure scheduling contexts, and which changes the criticality of
 * the system. A loader configures all contexts with constant bandwidth and two refills.
 */
#pragma once

#include <camkes/criticality.h>
#include <camkes/platform.h>

#if defined(CONFIG_KERNEL_MCS)

/* A scheduling context that it configures; times in us. */
struct camkes_server {
    seL4_CPtr time;
    seL4_CPtr control;              /* SchedControl of the core on which its threads execute */
    uint64_t budget[CAMKES_LEVELS]; /* by the criticality of the system */
    uint64_t period;
    seL4_Word extra; /* besides two */
    seL4_Word badge;
    bool sporadic;
    const seL4_CPtr *holder; /* threads that can execute on it, as far as its budgets differ */
    unsigned holders;
};

/* Where a task makes requests, or helps: their priorities change with the task's. */
struct camkes_requested {
    seL4_CPtr manager; /* of the CPI or of a group, 0: it has none, */
    seL4_Word context; /* index of the task's context at the CPI, or its id for a group */
    seL4_CPtr worker;  /* and this thread serves the task's requests */
};

/* A task with a criticality above 0. */
struct camkes_critical {
    uint16_t task; /* id in the plan */
    uint8_t criticality;
    uint8_t priority[CAMKES_LEVELS]; /* by the criticality of the system */
    seL4_CPtr control;               /* its control thread, 0: the manager of a group sets that */
    const struct camkes_server *server;
    const struct camkes_requested *request; /* of all its requests, the innermost first */
    unsigned requests;
};

struct camkes_time_manager {
    const struct camkes_server *server;
    unsigned servers;
    const seL4_CPtr *control; /* SchedControl of each core */
    unsigned controls;
    bool holds; /* budgets depend on the criticality, so it keeps these capabilities */

    /* where there are criticalities */
    seL4_CPtr endpoint;
    seL4_CPtr risen; /* notification of the thread that then waits for an idle processor */
    unsigned highest;
    const struct camkes_critical *critical; /* the highest priority first */
    unsigned criticals;
};

/* Badges of its endpoint; the handler of the overruns of a task has CAMKES_BADGE_RAISE + its id. */
enum { CAMKES_BADGE_IDLE = 1, CAMKES_BADGE_SET = 2, CAMKES_BADGE_RAISE = 3 };

/* What its thread that waits for an idle processor uses. */
struct camkes_idle {
    seL4_CPtr risen;
    seL4_CPtr manager; /* endpoint */
};

/* The functions of its threads: the second one has a lower priority than any other thread. */
void camkes_manage_time(struct camkes_thread *self);
void camkes_await_idle(struct camkes_thread *self);

#endif
