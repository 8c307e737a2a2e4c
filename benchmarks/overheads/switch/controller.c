/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Raises the criticality step by step, in each job; it falls when the processor is idle. */
#include <camkes.h>
#include <camkes/realtime.h>
#include <measure.h>

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
            const char row[] = {(char)('0' + level), 0};
            measure_line(row, 0, 0, taken[job][level - 1]);
        }
    }
    measure_line("4", 0, 0, empty);
    measure_say("end");
    return 0;
}
