/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Semaphores of an instance: a value, and a notification that wakes threads which wait. */
#include <camkes/semaphore.h>
#include <limits.h>

/* Takes one wakeup; if more are left, signals the next waiter. Not inlined: the loop around it has
 * a bound of its own. */
static __attribute__((noinline)) bool take_wakeup(struct camkes_semaphore *semaphore)
{
    unsigned wakeups = atomic_load(&semaphore->wakeups);
    /* at most 1 time: no other thread changes the value meanwhile */
    while (wakeups > 0) {
        camkes_point();
        if (atomic_compare_exchange_weak(&semaphore->wakeups, &wakeups, wakeups - 1)) {
            if (wakeups > 1) {
                seL4_Signal(semaphore->notification);
            }
            return true;
        }
    }
    return false;
}

int camkes_semaphore_wait(struct camkes_semaphore *semaphore)
{
    camkes_point();
    if (atomic_load(&semaphore->value) == INT_MIN) {
        return -1;
    }
    if (atomic_fetch_sub(&semaphore->value, 1) <= 0) {
        /* at most 1 time: no other thread takes the wakeup */
        do {
            seL4_Wait(semaphore->notification, NULL);
        } while (!take_wakeup(semaphore));
    }
    CAMKES_SEMAPHORE_NOTE(TAKE, semaphore);
    return 0;
}

int camkes_semaphore_post(struct camkes_semaphore *semaphore, int limit)
{
    int value = atomic_load(&semaphore->value);
    /* at most 1 time: no other thread changes the value meanwhile */
    do {
        camkes_point();
        if (value >= limit) {
            return limit == INT_MAX ? -1 : 0;
        }
    } while (!atomic_compare_exchange_weak(&semaphore->value, &value, value + 1));
    CAMKES_SEMAPHORE_NOTE(POST, semaphore);
    if (value < 0) {
        camkes_point();
        atomic_fetch_add(&semaphore->wakeups, 1);
        seL4_Signal(semaphore->notification);
    }
    return 0;
}
