/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include "lock.h"

#include "nested.h"

#include <camkes/label.h>

static void ask_manager(const struct camkes_cpi *cpi, uint16_t context,
                        enum camkes_operation operation)
{
    camkes_ask_manager(cpi->context[context].manager_as_worker,
                       camkes_operation_label(operation, 0, 0), cpi->name);
}

void camkes_lock_take(struct camkes_cpi *cpi, uint16_t context)
{
    uintptr_t found = 0;
    camkes_point();
    if (atomic_compare_exchange_strong(&cpi->lock, &found, camkes_held_by(context))) {
        CAMKES_TRACE(LOCK_TAKE, cpi->id, cpi->context[context].id);
    } else {
        camkes_point();
        ask_manager(cpi, context, CAMKES_ACQUIRE_LOCK);
    }
    camkes_point();
}

void camkes_lock_free(struct camkes_cpi *cpi, uint16_t context)
{
    uintptr_t found = camkes_held_by(context);
    camkes_point();
    if (atomic_compare_exchange_strong(&cpi->lock, &found, 0)) {
        CAMKES_TRACE(LOCK_FREE, cpi->id, cpi->context[context].id);
    } else {
        camkes_point();
        ask_manager(cpi, context, CAMKES_RELEASE_LOCK);
    }
    camkes_point();
}
