/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: HOST-2 */
/* Virtual time: work that is preempted at any instant, periodic and single timers. */
#include <camkes/host.h>
#include <stdio.h>

enum { TICK = 1, TICK_TIMER = 2, ONCE = 3, ONCE_TIMER = 4, UNARMED = 5 };

static void at(const char *what)
{
    printf("%6d %s\n", (int)camkes_host_now(), what);
}

static void ticker(void)
{
    for (int i = 0; i < 4; i++) {
        seL4_Word badge;
        seL4_Wait(TICK, &badge);
        printf("%6d tick, badge %d, expirations %d\n", (int)camkes_host_now(), (int)badge,
               (int)camkes_host_timer_expirations(TICK_TIMER));
        camkes_host_work(100);
    }
    at("ticker works through two periods");
    camkes_host_work(2500);
    seL4_Wait(TICK, NULL);
    printf("%6d one signal for %d expirations\n", (int)camkes_host_now(),
           (int)camkes_host_timer_expirations(TICK_TIMER));
    camkes_host_timer_arm(TICK_TIMER, 0, 0);
    seL4_Wait(TICK, NULL);
    at("not reached: the timer is stopped");
}

static void worker(void)
{
    camkes_host_work(0);
    at("worker starts");
    camkes_host_work(1700);
    at("worker had 1700 ns, preempted once");
    camkes_host_timer_arm(ONCE_TIMER, 3000, 0);
    seL4_Wait(ONCE, NULL);
    at("once");
    camkes_host_timer_arm(ONCE_TIMER, 1, 0);
    seL4_Wait(ONCE, NULL);
    at("a time that is past is now");
    camkes_host_timer_arm(ONCE_TIMER, 1000000, 0);
    camkes_host_work_between(10, 20);
    at("worker worked for the upper bound");
    camkes_host_timer_arm(UNARMED, 1, 1);
    printf("no timer has no expirations: %d\n", (int)camkes_host_timer_expirations(UNARMED));
    seL4_Wait(ONCE, NULL);
    at("not reached: after the end of the run");
}

void _camkes_thread(unsigned index)
{
    index == 0 ? ticker() : worker();
}
