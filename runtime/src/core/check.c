/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Whether the records of a CPI, its contexts and its threads agree; see check.h. */
#include "check.h"

#include "../time/overrun.h"
#include "queue.h"

#if CAMKES_ASSERTIONS

/* What a worker executes on. */
static void check_time(const struct camkes_cpi *cpi, const struct camkes_thread *worker)
{
#if CAMKES_MCS
    const enum camkes_worker_state state = worker->state;
    const bool extended =
        state == CAMKES_WORKER_EXTENDED || state == CAMKES_WORKER_ABORTED_EXTENDED;
    const bool homed = state == CAMKES_WORKER_FINISHING || state == CAMKES_WORKER_ABORTED_HOME;
    const bool aborted = camkes_is_aborted(state);
    CAMKES_ASSERT((cpi->extended == worker) == extended);
    CAMKES_ASSERT((cpi->homed == worker) == homed);
    CAMKES_ASSERT(!extended || worker->donated == cpi->extension);
    CAMKES_ASSERT(!homed || worker->donated == cpi->home.context);
    CAMKES_ASSERT((worker->donated != 0) == (extended || homed || state == CAMKES_WORKER_HELPED));
    CAMKES_ASSERT((worker->withdrawn == 0) ==
                  (aborted || state == CAMKES_WORKER_PASSIVE || state == CAMKES_WORKER_STALLED));
    CAMKES_ASSERT(!worker->rolls_back || aborted);
    CAMKES_ASSERT(!atomic_load(&worker->arriving));
#else
    (void)cpi;
    (void)worker;
#endif
}

void camkes_check_thread(struct camkes_cpi *cpi, const struct camkes_context *context)
{
    const struct camkes_thread *const worker = atomic_load(&context->worker);
    const uintptr_t holder = camkes_held_by(camkes_lock_of(cpi));
    CAMKES_ASSERT(context->held != 0 && context->held < CAMKES_WAITERS);
    CAMKES_ASSERT(!camkes_waits(context) || (worker != NULL && holder != context->held));
    if (worker != NULL) {
        CAMKES_ASSERT(worker->cpi == cpi && worker->context == context);
        check_time(cpi, worker);
    }
}

void camkes_check_member(struct camkes_cpi *cpi)
{
    for (uint16_t i = 0; i < cpi->contexts; i++) { /* at most contexts times: each once */
        camkes_check_thread(cpi, &cpi->context[i]);
    }
}

void camkes_check_cpi(struct camkes_cpi *cpi)
{
    const uintptr_t word = atomic_load(&cpi->lock);
    CAMKES_ASSERT(cpi->first == 0 || (word & CAMKES_WAITERS) != 0);
    CAMKES_ASSERT((word & (CAMKES_WAITERS - 1)) <= cpi->contexts);
    CAMKES_ASSERT(word == 0 || (word & (CAMKES_WAITERS - 1)) != 0);
    for (uint16_t i = 0; i < cpi->contexts; i++) { /* at most contexts times: each once */
        const struct camkes_context *const context = &cpi->context[i];
        const bool holds = (word & (CAMKES_WAITERS - 1)) == context->held;
        camkes_check_thread(cpi, context);
        CAMKES_ASSERT(context->held == i + 1u);
        CAMKES_ASSERT(context->request >= context->base);
        CAMKES_ASSERT(!camkes_waits(context) || cpi->first != 0);
        CAMKES_ASSERT(camkes_overrun_at_ceiling(cpi) ||
                      atomic_load(&context->effective) ==
                          camkes_queue_source(cpi, context, holds)->request);
    }
}

#endif
