/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Operations of workers on the lock of an inherited CPI. */
#pragma once

#include <camkes/cpi.h>

_Static_assert(CAMKES_WAITERS > UINT16_MAX, "above the index of every context, and one");

/* The lock word while context `context` of the CPI holds the lock. */
static inline uintptr_t camkes_held_by(uint16_t context)
{
    return (uintptr_t)context + 1;
}

void camkes_lock_take(struct camkes_cpi *cpi, uint16_t context);
void camkes_lock_free(struct camkes_cpi *cpi, uint16_t context);
