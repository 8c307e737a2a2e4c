/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Binary semaphores of libsel4sync around a notification that the caller has. Functions are 0, or
 * -1 for a null pointer. */
#pragma once

#include <sync/bin_sem_bare.h>

typedef struct {
    seL4_CPtr notification;
    volatile int value;
} sync_bin_sem_t;

/* The value is 0 or 1. */
static inline int sync_bin_sem_init(sync_bin_sem_t *semaphore, seL4_CPtr notification, int value)
{
    if (!semaphore || (value & ~1) != 0) {
        return -1;
    }
    *semaphore = (sync_bin_sem_t){.notification = notification, .value = value};
    return 0;
}

static inline int sync_bin_sem_wait(sync_bin_sem_t *semaphore)
{
    return semaphore ? sync_bin_sem_bare_wait(semaphore->notification, &semaphore->value) : -1;
}

static inline int sync_bin_sem_post(sync_bin_sem_t *semaphore)
{
    return semaphore ? sync_bin_sem_bare_post(semaphore->notification, &semaphore->value) : -1;
}
