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

/* All return 0, or -1 if a count would overflow or camkes_semaphore_trywait() would have to wait.
 * */
int camkes_semaphore_wait(struct camkes_semaphore *semaphore);
int camkes_semaphore_trywait(struct camkes_semaphore *semaphore);
/* Does not increase the value above `limit`, which is 1 for a mutex and a binary semaphore. */
int camkes_semaphore_post(struct camkes_semaphore *semaphore, int limit);
