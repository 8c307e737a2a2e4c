/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Counting semaphores of libsel4sync around capabilities that the caller has. Functions are 0, or
 * -1 for a null pointer. */
#pragma once

#include <sync/sem-bare.h>

typedef struct {
    seL4_CPtr ep;
    volatile int value;
} sync_sem_t;

static inline int sync_sem_init(sync_sem_t *semaphore, seL4_CPtr endpoint, int value)
{
    if (!semaphore || value < 0) {
        return -1;
    }
    *semaphore = (sync_sem_t){.ep = endpoint, .value = value};
    return 0;
}

static inline int sync_sem_wait(sync_sem_t *semaphore)
{
    return semaphore ? sync_sem_bare_wait(semaphore->ep, &semaphore->value) : -1;
}

static inline int sync_sem_trywait(sync_sem_t *semaphore)
{
    return semaphore ? sync_sem_bare_trywait(semaphore->ep, &semaphore->value) : -1;
}

static inline int sync_sem_post(sync_sem_t *semaphore)
{
    return semaphore ? sync_sem_bare_post(semaphore->ep, &semaphore->value) : -1;
}
