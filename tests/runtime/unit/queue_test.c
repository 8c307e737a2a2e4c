/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: RT-6 */
/* The queue of waiters against a list that is searched: highest priority first, then first come. */
#include "../../../runtime/src/core/queue.h"

#include <stdio.h>
#include <stdlib.h>

enum { CONTEXTS = 300, STEPS = 40000 };

static struct camkes_context contexts[CONTEXTS];
static struct camkes_cpi cpi = {.contexts = CONTEXTS, .context = contexts};
static unsigned order[CONTEXTS]; /* of arrival, 0: not waiting */

static uint32_t state = 1;

static unsigned random_below(unsigned limit)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % limit;
}

static int expected_first(void)
{
    int best = -1;
    for (int i = 0; i < CONTEXTS; i++) {
        if (order[i] != 0 &&
            (best < 0 || contexts[i].request > contexts[best].request ||
             (contexts[i].request == contexts[best].request && order[i] < order[best]))) {
            best = i;
        }
    }
    return best;
}

static void need(bool good, const char *what, int step)
{
    if (!good) {
        printf("step %d: %s\n", step, what);
        exit(1);
    }
}

/* The first of all that wait with the highest priority, which has the greatest rank. */
static void highest(void)
{
    contexts[0].request = UINT8_MAX;
    contexts[1].request = UINT8_MAX - 1;
    for (uint16_t i = 0; i < 2; i++) {
        camkes_queue_insert(&cpi, i);
    }
    for (uint16_t i = 0; i < 2; i++) {
        need(camkes_queue_take(&cpi) == i, "another order", i);
    }
}

int main(void)
{
    highest();
    unsigned arrivals = 0;
    cpi.arrivals = UINT32_MAX - STEPS / 4;
    for (int step = 0; step < STEPS; step++) {
        const uint16_t context = (uint16_t)random_below(CONTEXTS);
        if (order[context] == 0 && random_below(2) == 0) {
            contexts[context].request = (uint8_t)random_below(8);
            camkes_queue_insert(&cpi, context);
            order[context] = ++arrivals;
        } else if (order[context] != 0 && random_below(2) == 0) {
            camkes_queue_change(&cpi, context, (uint8_t)random_below(8));
        } else if (expected_first() >= 0) {
            const int expected = expected_first();
            need(camkes_queue_first(&cpi) == &contexts[expected], "wrong first", step);
            const uint16_t taken = camkes_queue_take(&cpi);
            need(taken == expected, "took another", step);
            order[taken] = 0;
        } else {
            need(camkes_queue_first(&cpi) == NULL, "one waits", step);
        }
        for (int i = 0; i < CONTEXTS; i++) {
            need(camkes_waits(&contexts[i]) == (order[i] != 0), "waiting is wrong", step);
        }
    }
    need(arrivals > 1000, "nothing happened", STEPS);
    printf("good\n");
    return 0;
}
