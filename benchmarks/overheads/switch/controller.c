/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Raises the criticality step by step, in each job; it falls when the processor is idle. The last
 * line is "overheads: end". */
#include <camkes.h>
#include <camkes/realtime.h>
#include <cycles.h>
#include <inttypes.h>
#include <stdio.h>

#define RUNS 12
#define LEVELS 3

int run(void)
{
    static uint64_t taken[RUNS][LEVELS], empty;
    for (int job = 0; job < RUNS && camkes_next_job(); job++) {
        for (unsigned level = 1; level <= LEVELS; level++) {
            const uint64_t begin = cycles();
            camkes_set_criticality(level);
            taken[job][level - 1] = cycles() - begin;
        }
        const uint64_t begin = cycles();
        camkes_set_criticality(LEVELS);
        empty = cycles() - begin;
    }
    for (int job = 0; job < RUNS; job++) {
        for (unsigned level = 1; level <= LEVELS; level++) {
            printf("overheads: %u 0 0 %" PRIu64 "\n", level, taken[job][level - 1]);
        }
    }
    printf("overheads: 4 0 0 %" PRIu64 "\noverheads: end\n", empty);
    return 0;
}
