/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Virtual time, where it passes because no thread can run, and its end. */
#include "time/budget.h"
#include "record/output.h"
#include "scheduling/scheduling.h"
#include "state.h"

/* With --arrivals a loop is one even if it takes time, which a search does not let pass. */
void clock_pass_to(uint64_t instant)
{
    if (instant != kernel->now) {
        kernel->now = instant;
        kernel->calls = kernel->options.arrivals ? kernel->calls : 0;
    }
}

/* When something happens by itself. */
uint64_t clock_next(void)
{
    const uint64_t slot = domain_next();
    const uint64_t timer = timer_next();
    const uint64_t refill = kernel->mcs ? budget_next() : UINT64_MAX;
    const uint64_t first = refill < timer ? refill : timer;
    return slot < first ? slot : first;
}

/* Lets what is due at this instant happen. Whether there was something. */
bool clock_wake_due(void)
{
    const bool switched = domain_switch_due();
    const bool fired = timer_fire_due();
    return (kernel->mcs && budget_release_due()) || fired || switched;
}

void clock_end(enum camkes_end reason)
{
    TRACE(END, NULL, kernel->shown, reason);
    kernel->ended = true;
}

/* No thread runs until `next`, UINT64_MAX: for ever. (Not inline: a debugger stops here, and reads
 * `next`.) */
static __attribute__((noinline)) void idle_until(uint64_t next)
{
    if (next < kernel->options.until) {
        clock_pass_to(next);
    } else if (next == UINT64_MAX) {
        clock_end(CAMKES_END_IDLE);
    } else {
        clock_pass_to(kernel->options.until);
        clock_end(CAMKES_END_TIME);
    }
}

/* No thread can run: goes to the next instant at which something happens, or ends the run. */
void clock_skip(void)
{
    if (clock_wake_due()) {
        return;
    }
    if (kernel->shown) {
        TRACE_PLAIN(IDLE, NULL, kernel->shown);
        kernel->shown = NULL;
    }
    if (kernel->options.arrivals && arrivals_at_switch()) {
        return;
    }
    idle_until(clock_next());
}
