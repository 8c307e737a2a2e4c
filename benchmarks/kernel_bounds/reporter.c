/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Executes while no task does. After `until` it prints what was noted, and then is idle. */
#include <cycles.h>
#include <inttypes.h>
#include <stdio.h>

/* The instructions that were executed, and the time in nanoseconds, at one instant. */
static void print_clock(void)
{
    const uint64_t counter = cycles(), now = camkes_now();
    printf("bounds: clock %" PRIu64 " %" PRIu64 "\n", counter, now);
}

int run(void)
{
    print_clock();
    while (camkes_now() < until_ns) {
    }
    print_clock();
    for (unsigned task = 0; task < TASKS_MOST; task++) {
        const struct times *const each = &ALL_TIMES[task];
        const uint32_t ended = each->ended, released = each->released;
        for (uint32_t job = 0; job < ended; job++) {
            printf("bounds: end %u %" PRIu64 " %" PRIu64 "\n", task, each->job[job],
                   each->end[job]);
        }
        for (uint32_t job = 0; job < released; job++) {
            printf("bounds: release %u %" PRIu64 "\n", task, each->release[job]);
        }
    }
    printf("bounds: complete\n");
    return 0;
}
