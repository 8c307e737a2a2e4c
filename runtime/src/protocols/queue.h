/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The contexts that wait for a CPI's lock: a heap, highest priority first, then first come. */
#pragma once

#include <camkes/cpi.h>

void camkes_queue_insert(struct camkes_cpi *cpi, uint16_t context);
/* The context's priority was raised. */
void camkes_queue_raise(struct camkes_cpi *cpi, uint16_t context);
/* Takes the first one out; there must be one. */
uint16_t camkes_queue_take(struct camkes_cpi *cpi);

/* The first one, NULL: nobody waits. */
static inline struct camkes_context *camkes_queue_first(const struct camkes_cpi *cpi)
{
    return cpi->queued > 0 ? &cpi->context[cpi->queue[0]] : NULL;
}
