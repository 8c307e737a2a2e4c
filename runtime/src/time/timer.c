/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Timers of a client of the time server. */
#include <camkes/timer.h>

static int arm(struct camkes_timers *timers, int id, uint64_t first, uint64_t period)
{
    if ((unsigned)id >= timers->count) {
        return -1;
    }
    struct camkes_timer *timer = &timers->timer[id];
    timer->seen = 0;
    camkes_platform_timer_arm(timer->timer, first, period);
    return 0;
}

/* A time of 0 would stop the timer. */
static uint64_t not_zero(uint64_t time)
{
    return time > 0 ? time : 1;
}

int camkes_timers_periodic(struct camkes_timers *timers, int id, uint64_t ns)
{
    return arm(timers, id, not_zero(camkes_platform_now() + ns), not_zero(ns));
}

int camkes_timers_oneshot_absolute(struct camkes_timers *timers, int id, uint64_t ns)
{
    const uint64_t now = camkes_platform_now();
    return arm(timers, id, not_zero(ns > now ? ns : now), 0);
}

int camkes_timers_oneshot_relative(struct camkes_timers *timers, int id, uint64_t ns)
{
    return arm(timers, id, not_zero(camkes_platform_now() + ns), 0);
}

int camkes_timers_stop(struct camkes_timers *timers, int id)
{
    return arm(timers, id, 0, 0);
}

unsigned camkes_timers_completed(struct camkes_timers *timers)
{
    unsigned completed = 0;
    /* at most 32 times: each is a bit of the result */
    for (unsigned id = 0; id < timers->count; id++) {
        struct camkes_timer *timer = &timers->timer[id];
        const uint64_t expirations = camkes_platform_timer_expirations(timer->timer);
        if (expirations != timer->seen) {
            timer->seen = expirations;
            completed |= 1u << id;
        }
    }
    return completed;
}
