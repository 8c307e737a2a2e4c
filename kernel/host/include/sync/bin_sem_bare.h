/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Binary semaphores, as code knows them from libsel4sync of seL4: a number of 1 (free), 0 (taken)
 * or below (taken, and so many threads wait), and a notification. On seL4 the file of this name is
 * libsel4sync's own.
 */
#pragma once

#include <sel4/sel4.h>

/* Waits until it is free, and takes it; 0. */
static inline int sync_bin_sem_bare_wait(seL4_CPtr notification, volatile int *value)
{
    if (__atomic_fetch_sub(value, 1, __ATOMIC_ACQUIRE) <= 0) {
        seL4_Wait(notification, NULL);
    }
    return 0;
}

/* Frees it for the first of the threads that wait; 0. */
static inline int sync_bin_sem_bare_post(seL4_CPtr notification, volatile int *value)
{
    if (__atomic_fetch_add(value, 1, __ATOMIC_RELEASE) < 0) {
        seL4_Signal(notification);
    }
    return 0;
}
