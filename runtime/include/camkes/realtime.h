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

/* Consumes `ns` nanoseconds of processor time, as a computation would. */
void camkes_work(uint64_t ns);
/* The same for a time between `low` and `high`. */
void camkes_work_between(uint64_t low, uint64_t high);

/* Nanoseconds since boot. */
uint64_t camkes_now(void);

/*
 * Starts the next job of a task. run() is called at the first release, so the first call returns
 * true at once. Each later call ends the running job and waits for the next release, or returns at
 * once if that has passed; it returns false if there are no more releases.
 */
bool camkes_next_job(void);

/*
 * The effective priority of the running thread's work, 0 to 255. In a `fixed` CPI it is the
 * ceiling; in an `inherited` CPI the highest of the request's and of those of all requests that
 * wait for it; in a `propagated` CPI that of the request, including priorities it inherits at other
 * CPIs; elsewhere that of the thread.
 */
unsigned camkes_request_priority(void);

/*
 * Whether a request of the running thread was aborted since this was last asked, because the budget
 * of the task that it works for was used up. The error handler of the interface gets
 * CE_REQUEST_ABORTED; without one, the caller goes on, and results are zero.
 */
bool camkes_request_aborted(void);

/*
 * The criticality of the system: 0, or, after an overrun of a task with the policy `raise`, up to
 * 3. It falls to 0 when the processor is idle.
 */
unsigned camkes_criticality(void);

/*
 * The id of the task that the running thread works for, or -1. In a handler it is the id that the
 * caller claims, which is one of the tasks that can use the caller's connection: other requests are
 * refused.
 */
int camkes_requestor(void);

#ifdef __cplusplus
}
#endif
