/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Executes while no job does, and prints for how long it did not, from its last reading of the
 * counter to the next one: releases, and ticks of the kernel. */
#include <camkes.h>
#include <measure.h>

/* More than two readings next to each other are apart, and less than any interrupt takes. */
static uint64_t shortest_gap(void)
{
    uint64_t least = UINT64_MAX, last = cycles();
    for (int i = 0; i < 1000; i++) {
        const uint64_t now = cycles();
        least = now - last < least ? now - last : least;
        last = now;
    }
    return 4 * least;
}

/* The counter and the time in nanoseconds, at one instant. */
static void print_clock(void)
{
    const uint64_t counter = cycles(), now = camkes_now();
    measure_line("clock", counter, 0, now);
}

int run(void)
{
    static struct gap {
        uint64_t begin, end;
    } gaps[GAPS];

    measure_begin();
    const uint64_t shortest = shortest_gap();
    print_clock();
    uint64_t last = cycles();
    for (int i = 0; i < GAPS;) {
        const uint64_t now = cycles();
        if (now - last > shortest) {
            gaps[i++] = (struct gap){last, now};
        }
        last = now;
    }
    print_clock();
    for (int i = 0; i < GAPS; i++) {
        measure_line("gap", gaps[i].begin, 0, gaps[i].end);
    }
    measure_say("end");
    return 0;
}
