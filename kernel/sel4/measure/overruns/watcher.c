/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Executes while no task does. What no component has used of a slot, its task has cost: the kernel,
 * managers, and the timer driver took it. Printed is what a task has cost in a round, in which it
 * does not need more than its budget, and in the next one, in which it does. */
#include "used.h"

#include <measure.h>

static const char *const row[] = {OVERRUN_ROWS};
#define SLOTS ((int)(sizeof row / sizeof *row))
#define ROUNDS_SEEN (2 * (SAMPLES + 1))

static uint64_t all_used(void)
{
    uint64_t sum = 0;
    for (int i = 0; i < USERS; i++) {
        sum += WORK[i];
    }
    return sum;
}

/* The first rounds, in which the system begins, are left out. */
static void print(uint64_t cost[ROUNDS_SEEN][SLOTS])
{
    for (int i = 0; i < SLOTS; i++) {
        for (int j = 2; j < ROUNDS_SEEN; j += 2) {
            measure_line(row[i], 0, cost[j][i], cost[j + 1][i]);
        }
    }
    measure_say("end");
}

int run(void)
{
    static uint64_t cost[ROUNDS_SEEN][SLOTS];
    measure_begin();
    const uint64_t shortest = shortest_gap();
    uint64_t until = first - slot / 4;
    execute(0, shortest, until);
    uint64_t begin = cycles(), before = all_used();
    for (int i = 0; i < 2 * ROUNDS_SEEN * SLOTS; i++) {
        until += slot;
        execute(0, shortest, until);
        const uint64_t now = cycles(), sum = all_used();
        cost[i / (2 * SLOTS)][i % SLOTS] += now - begin - (sum - before);
        begin = now;
        before = sum;
    }
    print(cost);
    return 0;
}
