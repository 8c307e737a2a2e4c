/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Spin locks, as code knows them from libplatsupport of seL4. A thread that finds one taken gives
 * way to others of its priority: on one processor, one that spins would wait for ever. On seL4 the
 * file of this name is libplatsupport's own.
 */
#pragma once

#include <sel4/sel4.h>

typedef int sync_spinlock_t;

static inline int sync_spinlock_init(sync_spinlock_t *lock)
{
    *lock = 0;
    return 0;
}

static inline int sync_spinlock_lock(sync_spinlock_t *lock)
{
    while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE) != 0) {
        seL4_Yield();
    }
    return 0;
}

/* 0, or 1 if it is taken. */
static inline int sync_spinlock_trylock(sync_spinlock_t *lock)
{
    return __atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE);
}

static inline int sync_spinlock_unlock(sync_spinlock_t *lock)
{
    __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
    return 0;
}
