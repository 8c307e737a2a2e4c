/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The contexts that wait for a CPI's lock: a heap ordered by priority, then by arrival. */
#pragma once

#include <camkes/cpi.h>

void camkes_queue_insert(struct camkes_cpi *cpi, uint16_t context);
/* Restores the order after the priority of a context was raised. */
void camkes_queue_raise(struct camkes_cpi *cpi, uint16_t context);
/* Removes and returns the first context. The queue must not be empty. */
uint16_t camkes_queue_take(struct camkes_cpi *cpi);

/* The first context; NULL if the queue is empty. */
static inline struct camkes_context *camkes_queue_first(const struct camkes_cpi *cpi)
{
    return cpi->queued > 0 ? &cpi->context[cpi->queue[0]] : NULL;
}
