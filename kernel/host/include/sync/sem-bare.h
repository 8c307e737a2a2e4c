/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Counting semaphores, as code knows them from libsel4sync of seL4: a number, and an endpoint at
 * which threads wait. On seL4 the file of this name is libsel4sync's own.
 */
#pragma once

#include <sel4/sel4.h>

/* Waits until the number is above 0, and takes one; 0. The endpoint needs the rights to send and
 * receive. */
static inline int sync_sem_bare_wait(seL4_CPtr endpoint, volatile int *value)
{
    if (__atomic_fetch_sub(value, 1, __ATOMIC_ACQUIRE) <= 0) {
        seL4_Wait(endpoint, NULL);
    }
    return 0;
}

/* Takes one if the number is above 0; 0, or -1 if it is not. */
static inline int sync_sem_bare_trywait(seL4_CPtr endpoint, volatile int *value)
{
    (void)endpoint;
    int seen = *value;
    while (seen > 0) {
        if (__atomic_compare_exchange_n(value, &seen, seen - 1, 0, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED)) {
            return 0;
        }
    }
    return -1;
}

/* Adds one, which the first of the threads that wait takes; 0. */
static inline int sync_sem_bare_post(seL4_CPtr endpoint, volatile int *value)
{
    if (__atomic_fetch_add(value, 1, __ATOMIC_RELEASE) < 0) {
        seL4_Send(endpoint, seL4_MessageInfo_new(0, 0, 0, 0));
    }
    return 0;
}
