/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Time, jobs and priorities, for component code. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Durations in nanoseconds. */
#define CAMKES_NS(x) ((uint64_t)(x))
#define CAMKES_US(x) ((uint64_t)(x) * 1000)
#define CAMKES_MS(x) ((uint64_t)(x) * 1000000)
#define CAMKES_S(x) ((uint64_t)(x) * 1000000000)

/* Consumes so much processor time, as a computation would. */
void camkes_work(uint64_t ns);
/* The same for a time between two bounds. */
void camkes_work_between(uint64_t low, uint64_t high);

/* Nanoseconds since boot. */
uint64_t camkes_now(void);

/*
 * The start of a task's next job. run() is called at the first release, so the first call returns
 * at once; later ones end the running job, wait for the next release and return true, or return
 * false when there will be no more. A job that is late starts at once.
 */
bool camkes_next_job(void);

/*
 * The priority that the running thread's work has now, 0 to 255. In a `fixed` CPI it is the
 * ceiling, in an `inherited` one that of the request and all that wait for it, in a `propagated`
 * one that of the request with what it inherits further up; elsewhere it is the thread's own.
 */
unsigned camkes_request_priority(void);

/*
 * The id of the task that the running thread works for, -1: none. In a handler it is one of those
 * whose requests can come through the caller's connection: a request that claims another is
 * refused.
 */
int camkes_requestor(void);

#ifdef __cplusplus
}
#endif
