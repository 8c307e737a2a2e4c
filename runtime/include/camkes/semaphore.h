/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Semaphores and mutexes of one address space. */
#pragma once

#include <camkes/platform.h>
#include <stdatomic.h>

/*
 * A semaphore over a notification. A notification remembers one signal only, so `wakeups` counts
 * those that are not yet taken, and who takes one passes the signal on while there are more.
 * Waiting on a notification, unlike on an endpoint, leaves the reply capability of an interface
 * thread alone.
 */
struct camkes_semaphore {
    seL4_CPtr notification;
    _Atomic int value; /* below 0: so many wait */
    _Atomic unsigned wakeups;
};

/* All return 0, or -1 where a count would overflow or a try would wait. */
int camkes_semaphore_wait(struct camkes_semaphore *semaphore);
int camkes_semaphore_trywait(struct camkes_semaphore *semaphore);
/* The value never rises above `limit`: 1 for a mutex and a binary semaphore. */
int camkes_semaphore_post(struct camkes_semaphore *semaphore, int limit);
