/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Locks of libsel4sync around a notification that the caller has: binary semaphores that begin
 * free. Threads get them by their priorities, and no protocol bounds how long that takes. Functions
 * are 0, or -1 for a null pointer. */
#pragma once

#include <sync/bin_sem.h>

typedef sync_bin_sem_t sync_mutex_t;

static inline int sync_mutex_init(sync_mutex_t *mutex, seL4_CPtr notification)
{
    return sync_bin_sem_init(mutex, notification, 1);
}

static inline int sync_mutex_lock(sync_mutex_t *mutex)
{
    return sync_bin_sem_wait(mutex);
}

static inline int sync_mutex_unlock(sync_mutex_t *mutex)
{
    return sync_bin_sem_post(mutex);
}
