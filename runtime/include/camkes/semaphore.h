/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Semaphores and mutexes of one address space. */
#pragma once

#include <camkes/platform.h>
#include <stdatomic.h>

/*
 * A semaphore based on a notification. A notification stores one signal only, so `wakeups` counts
 * those not yet taken, and a thread that takes one signals again while there are more. Unlike
 * receiving from an endpoint, waiting on a notification does not overwrite the reply capability of
 * an interface thread.
 */
struct camkes_semaphore {
    seL4_CPtr notification;
    _Atomic int value; /* below 0: minus the number of waiters */
    _Atomic unsigned wakeups;
};

/* The holder of a mutex is in no record of the kernel, which knows only of threads that wait. On
 * seL4, where waits are not recorded, it would have no meaning. */
#if CAMKES_KERNEL_HOST
#define CAMKES_SEMAPHORE_NOTE(what, semaphore) CAMKES_TRACE(SYNC_##what, (semaphore)->notification)
#else
#define CAMKES_SEMAPHORE_NOTE(what, semaphore) ((void)0)
#endif

/* All return 0, or -1 if a count would overflow or camkes_semaphore_trywait() would have to wait.
 * */
int camkes_semaphore_wait(struct camkes_semaphore *semaphore);
CAMKES_INLINE int camkes_semaphore_trywait(struct camkes_semaphore *semaphore)
{
    int value = atomic_load(&semaphore->value);
    /* at most 1 time: no other thread changes the value meanwhile */
    while (value > 0) {
        camkes_point();
        if (atomic_compare_exchange_weak(&semaphore->value, &value, value - 1)) {
            CAMKES_SEMAPHORE_NOTE(TAKE, semaphore);
            return 0;
        }
    }
    return -1;
}
/* Does not increase the value above `limit`, which is 1 for a mutex and a binary semaphore. */
int camkes_semaphore_post(struct camkes_semaphore *semaphore, int limit);
