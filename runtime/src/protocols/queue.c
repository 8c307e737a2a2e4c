/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include "queue.h"

static bool before(const struct camkes_cpi *cpi, uint16_t a, uint16_t b)
{
    const struct camkes_context *x = &cpi->context[a], *y = &cpi->context[b];
    if (x->request != y->request) {
        return x->request > y->request;
    }
    return (int32_t)(x->arrival - y->arrival) < 0; /* arrivals wrap around */
}

static void put(struct camkes_cpi *cpi, unsigned place, uint16_t context)
{
    cpi->queue[place] = context;
    cpi->context[context].place = (uint16_t)place;
}

static void rise(struct camkes_cpi *cpi, unsigned place, uint16_t context)
{
    while (place > 0 && before(cpi, context, cpi->queue[(place - 1) / 2])) {
        put(cpi, place, cpi->queue[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    put(cpi, place, context);
}

/* Not on the way where there is one waiter. */
static __attribute__((noinline)) void sink(struct camkes_cpi *cpi, unsigned place, uint16_t context)
{
    for (unsigned child = 2 * place + 1; child < cpi->queued; child = 2 * place + 1) {
        if (child + 1 < cpi->queued && before(cpi, cpi->queue[child + 1], cpi->queue[child])) {
            child++;
        }
        if (!before(cpi, cpi->queue[child], context)) {
            break;
        }
        put(cpi, place, cpi->queue[child]);
        place = child;
    }
    put(cpi, place, context);
}

void camkes_queue_insert(struct camkes_cpi *cpi, uint16_t context)
{
    cpi->context[context].arrival = cpi->arrivals++;
    cpi->context[context].waiting = true;
    rise(cpi, cpi->queued++, context);
}

void camkes_queue_raise(struct camkes_cpi *cpi, uint16_t context)
{
    rise(cpi, cpi->context[context].place, context);
}

uint16_t camkes_queue_take(struct camkes_cpi *cpi)
{
    const uint16_t first = cpi->queue[0];
    cpi->context[first].waiting = false;
    cpi->queued--;
    if (cpi->queued > 0) {
        sink(cpi, 0, cpi->queue[cpi->queued]);
    }
    return first;
}
