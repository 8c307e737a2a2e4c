/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Tasks and their jobs. */
#pragma once

#include <camkes/platform.h>

struct camkes_task {
    seL4_CPtr release; /* notification that the timer signals, or of the event */
    seL4_CPtr timer;   /* runs from boot on, unless neither offset nor period is given */
    bool by_event;     /* an event releases the jobs; the timer does not run */
    uint64_t offset;   /* ns */
    uint64_t period;   /* ns, 0: one job */
    uint64_t next;     /* index of the next job */
    uint64_t begun;    /* ns, of the job that an event released */
    bool in_job;
    bool claimed; /* camkes_next_job() was called, so job 0 is one of several */
};

/* Called before and after run(): the first waits for the first release and begins job 0, the second
 * ends the running job and stops the timer. */
void camkes_begin_task(struct camkes_task *task);
void camkes_end_task(struct camkes_task *task);
