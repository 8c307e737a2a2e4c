/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: RT-31 */
/* The timers of a client: what the kernel's are set to. */
#include "log.h"

#include <camkes/timer.h>

enum { TIMERS = 3, FIRST = 30 };

static uint64_t now, expired[TIMERS];

uint64_t camkes_platform_now(void)
{
    return now;
}

void camkes_platform_timer_arm(seL4_CPtr timer, uint64_t first, uint64_t period)
{
    note("%u at %lu every %lu\n", (unsigned)timer, (unsigned long)first, (unsigned long)period);
}

uint64_t camkes_platform_timer_expirations(seL4_CPtr timer)
{
    need(timer >= FIRST && timer < FIRST + TIMERS, "another timer");
    return expired[timer - FIRST];
}

static void arms(struct camkes_timers *timers)
{
    now = 100;
    need(camkes_timers_periodic(timers, 0, 20) == 0, "the first timer");
    need_done("30 at 120 every 20\n");
    need(camkes_timers_oneshot_relative(timers, 2, 20) == 0, "the last timer");
    need_done("32 at 120 every 0\n");
    need(camkes_timers_oneshot_absolute(timers, 1, 150) == 0, "a time");
    need_done("31 at 150 every 0\n");
    need(camkes_timers_oneshot_absolute(timers, 1, 50) == 0, "a time that is over");
    need_done("31 at 100 every 0\n");
    need(camkes_timers_stop(timers, 1) == 0, "it is stopped");
    need_done("31 at 0 every 0\n");
    /* 0 would stop it */
    now = 0;
    need(camkes_timers_periodic(timers, 0, 0) == 0, "all the time");
    need_done("30 at 1 every 1\n");
    need(camkes_timers_oneshot_absolute(timers, 0, 0) == 0, "at once");
    need_done("30 at 1 every 0\n");
    need(camkes_timers_oneshot_relative(timers, 0, 0) == 0, "at once");
    need_done("30 at 1 every 0\n");
    need(camkes_timers_stop(timers, 3) == -1 && camkes_timers_stop(timers, -1) == -1 &&
             camkes_timers_periodic(timers, 3, 1) == -1 &&
             camkes_timers_oneshot_absolute(timers, 3, 1) == -1 &&
             camkes_timers_oneshot_relative(timers, 3, 1) == -1,
         "no timer");
    need_done("");
}

static void completes(struct camkes_timers *timers)
{
    need(camkes_timers_completed(timers) == 0, "none has expired");
    expired[0] = 1;
    expired[2] = 4;
    need(camkes_timers_completed(timers) == 5, "the first and the last");
    need(camkes_timers_completed(timers) == 0, "each once");
    expired[1] = 1;
    expired[2] = 5;
    need(camkes_timers_completed(timers) == 6, "two others");
    /* the kernel counts anew */
    need(camkes_timers_oneshot_relative(timers, 2, 1) == 0, "it is set again");
    expired[2] = 0;
    need(camkes_timers_completed(timers) == 0, "what it was before does not count");
}

int main(void)
{
    struct camkes_timer *table = calloc(TIMERS, sizeof *table);
    struct camkes_timers timers = {.count = TIMERS, .timer = table};
    for (unsigned i = 0; i < TIMERS; i++) {
        table[i].timer = FIRST + i;
    }
    arms(&timers);
    completes(&timers);
    free(table);
    printf("good\n");
    return 0;
}
