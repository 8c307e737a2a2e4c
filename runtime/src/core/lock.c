/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Operations on the lock of an inherited CPI that need its manager. */
#include "nested.h"

#include <camkes/serve.h>

_Static_assert(CAMKES_WAITERS > UINT16_MAX, "above the index of every context, and one");

void camkes_ask_own_manager(const struct camkes_cpi *cpi, const struct camkes_context *context,
                            enum camkes_worker_operation operation)
{
    camkes_point();
    if ((atomic_load(&cpi->lock) & CAMKES_MANAGER_WAITS) != 0) {
        seL4_Signal(cpi->wake); /* now the manager receives messages again */
    }
    camkes_ask_manager_here(context->manager_as_worker, camkes_worker_label(operation, 0, 0),
                            cpi->name);
}

void camkes_lock_wait(struct camkes_cpi *cpi, struct camkes_context *context)
{
    camkes_ask_own_manager(cpi, context, CAMKES_ACQUIRE_LOCK);
}

void camkes_lock_hand_over(struct camkes_cpi *cpi, struct camkes_context *context)
{
    uintptr_t word = atomic_load(&cpi->lock);
    camkes_point();
    /* at most 2 times: only its manager changes the word meanwhile, and once */
    while ((word & CAMKES_MANAGER_WAITS) != 0) {
        if (atomic_compare_exchange_strong(&cpi->lock, &word, word | CAMKES_RELEASED)) {
            seL4_Signal(cpi->wake);
            camkes_point();
            if (atomic_load(&cpi->lock) == (word | CAMKES_RELEASED)) {
                seL4_Yield(); /* the manager has the same priority */
            }
            return;
        }
    }
#if CAMKES_MCS
    const struct camkes_thread *self = camkes_self();
    if (cpi->grouped && self->donated != 0) {
        camkes_return_time(self, CAMKES_RETURN_RELEASE);
    }
#endif
    camkes_ask_own_manager(cpi, context, CAMKES_RELEASE_LOCK);
}
