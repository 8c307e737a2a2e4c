/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* What each component has used of the processor in its loops, in steps of the counter. */
#pragma once

#include <camkes.h>
#include <cycles.h>

#define WORK ((volatile uint64_t *)used)

/* More than two readings next to each other are apart, and less than any interrupt takes. */
static inline uint64_t shortest_gap(void)
{
    uint64_t least = UINT64_MAX, last = cycles();
    for (int i = 0; i < 100; i++) {
        (void)camkes_now();
        const uint64_t now = cycles();
        least = now - last < least ? now - last : least;
        last = now;
    }
    return 4 * least;
}

/* Executes until a time, which may be over; what is in between does not count. */
static inline void execute(int number, uint64_t shortest, uint64_t until)
{
    for (uint64_t last = cycles(); camkes_now() < until;) {
        const uint64_t now = cycles();
        if (now - last < shortest) {
            WORK[number] += now - last;
        }
        last = now;
    }
}
