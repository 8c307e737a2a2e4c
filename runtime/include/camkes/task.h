/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Tasks and their jobs. */
#pragma once

#include <camkes/criticality.h>
#include <camkes/platform.h>

/* Of a task whose overruns have a handler, on an MCS kernel. */
struct camkes_budget {
    struct camkes_task *task;
    uint64_t size[CAMKES_LEVELS]; /* us, by the criticality of the system */
    seL4_CPtr manager;            /* endpoint of the handler, its own end */
    seL4_CPtr timeout;            /* and that for messages */
    seL4_CPtr time;               /* scheduling contexts: the task's, */
    seL4_CPtr extension;          /* and what it goes on with, 0: none */
    seL4_CPtr raise;              /* endpoint of the time manager, 0: it raises no criticality */
    struct camkes_thread *control;
    /* NULL: a job is not stopped; else the function of the control thread after that */
    void (*again)(struct camkes_thread *control);
};

struct camkes_task {
    seL4_CPtr release; /* notification that the timer signals, or of the event */
    seL4_CPtr timer;   /* runs from boot on, given an offset or a period; 0: an event releases */
    uint64_t offset;   /* ns */
    uint64_t period;   /* ns, 0: one job */
    uint64_t next;     /* index of the next job */
    uint64_t begun;    /* ns, of the job that an event released */
    bool in_job;
    /* While the criticality of the system is above its own, it begins one job of each `stretch`,
     * 0: none. */
    unsigned criticality;
    unsigned stretch;
    uint64_t begun_last;                /* index + 1 of the last job that it began */
    const struct camkes_budget *budget; /* NULL: nothing handles its overruns */
    uint64_t used; /* us of its budget that the job has used up, as the handler knows */
    bool extended; /* the job executes on the extension; set by the handler */
    bool claimed;  /* camkes_next_job() was called, so job 0 is one of several */

    seL4_CPtr scheduler; /* at user level, 0: it has a priority of its own */
    uint64_t deadline;   /* ns from the release, for the scheduler */
};

/* The time of the release of a job: ns, as camkes_now(). */
uint64_t camkes_release_time(const struct camkes_task *task, uint64_t job);

/* Called before and after run(): the first waits for the first release and begins job 0, the second
 * ends the running job and stops the timer. */
void camkes_begin_task(struct camkes_task *task);
void camkes_end_task(struct camkes_task *task);

/* The function of the thread that handles the overruns of a task. */
void camkes_handle_overruns(struct camkes_thread *self);
