/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Schedulers at user level: a thread that orders the tasks of a band of priorities. docs/bands.md
 * describes them. All records are static tables of the generated code.
 */
#pragma once

#include <camkes/condition.h>

/* A task of a band. */
struct camkes_band_task {
    const char *name;
    uint16_t context;  /* plan id */
    seL4_CPtr manager; /* sets the task's priority */
    uint32_t weight;
    seL4_CPtr time; /* its scheduling context, if execution times matter */

    bool active;
    uint8_t priority;
    uint64_t due; /* ns: the deadline of its job, or what it has executed by its weight */
    uint32_t arrival;
};

/*
 * Active tasks have the priorities from `lowest` on, one each: that with the earliest `due` the
 * highest. Between jobs a task has `highest`, which is also the scheduler's: so it gets the
 * processor at its release, whatever executes in the band, to ask for its priority. Badges of the
 * endpoint, from 1 up: tasks, the thread that waits for the timer.
 */
struct camkes_band {
    seL4_CPtr endpoint;
    uint8_t lowest, highest;
    uint16_t members;
    struct camkes_band_task *member;
    uint32_t arrivals;
    /* to divide the processor: */
    uint64_t slice;  /* ns, 0: jobs have deadlines */
    seL4_CPtr timer; /* ends time slices */
    struct camkes_alarm alarm;
};

/* Entry point of the scheduler. */
void camkes_schedule(struct camkes_thread *self);
