/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* A CPI with the policy abort, for tests of how its workers get home: each call, and all that
 * changes. */
#pragma once

#include "kernel_log.h"

#include "../../../runtime/src/time/overrun.h"
#include <camkes/instance.h>
#include <camkes/serve.h>

enum { A, B, C, CONTEXTS };
enum { T_A = 1, T_B, T_FAR, EXTENSION, HOME }; /* scheduling contexts */
enum { TCB = 10, TIMEOUT = 20, REPLY = 30, KEPT = 40, ID = 50, OWN_REPLY = 35, AUTHORITY = 9 };
enum { CPI = 70, CEILING = 80, TASK = 0x81 };

static struct camkes_thread manager, threads[CONTEXTS], want_threads[CONTEXTS];
/* the last is none of the CPI */
static struct camkes_context contexts[CONTEXTS + 1], want_contexts[CONTEXTS + 1];
static struct camkes_cpi cpi, want_cpi;
static struct camkes_thread *const pool[CONTEXTS] = {&threads[B], &threads[A], &threads[C]};
/* the first is none */
static const struct camkes_caller rows[] = {
    {.is_task = true}, {.context = A, .is_task = true}, {.context = B}};
static struct camkes_payer payers[2];
static void (*restarted)(void);

void camkes_nested_abandon(struct camkes_context *context)
{
    note("abandon what %u requests\n", context->id);
}

void camkes_nested_tell(struct camkes_context *context, uint8_t priority, uint16_t cause)
{
    note("tell %u of %u, %u\n", context->id, priority, cause);
}

void camkes_request_abandoned(void)
{
    note("abandon\n");
}

void camkes_platform_restart(const struct camkes_thread *thread, void (*entry)(void))
{
    note("restart %lu\n", (unsigned long)thread->tcb);
    restarted = entry;
}

bool camkes_platform_keep_reply(const struct camkes_thread *thread)
{
    note("keep %lu\n", (unsigned long)thread->tcb);
    return false;
}

void camkes_platform_bring_home(const struct camkes_lent *lent, seL4_CPtr context)
{
    const struct camkes_thread *const worker =
        cpi.homed != NULL && cpi.homed->donated == context ? cpi.homed : cpi.extended;
    need(lent == &cpi.home && worker->home == lent, "another way home");
    need(worker->arriving && !worker->replied, "it is not about to arrive");
    note("bring %lu home on %lu\n", (unsigned long)worker->tcb, (unsigned long)context);
}

void camkes_return_time(const struct camkes_thread *self, enum camkes_return when)
{
    note("%lu returns its time, %d\n", (unsigned long)self->tcb, (int)when);
}

void camkes_lock_hand_over(struct camkes_cpi *of, struct camkes_context *context)
{
    note("%u hands over %u\n", context->id, of->id);
}

static void roll_back(void)
{
    note("roll back\n");
}

static void start(struct camkes_thread *self)
{
    note("start %lu\n", (unsigned long)self->tcb);
}

static void begin(void)
{
    manager = (struct camkes_thread){.reply = OWN_REPLY};
    camkes_set_self(&manager);
    memset(threads, 0, sizeof threads);
    memset(contexts, 0, sizeof contexts);
    cpi = (struct camkes_cpi){.id = CPI,
                              .ceiling = CEILING,
                              .contexts = CONTEXTS,
                              .callers = 2,
                              .context = contexts,
                              .caller = rows + 1,
                              .authority = AUTHORITY,
                              .pool = pool,
                              .threads = 2,
                              .extension = EXTENSION,
                              .aborts = true,
                              .rollback = roll_back,
                              .home = {.context = HOME},
                              .payer = payers,
                              .payers = 2};
    for (unsigned i = 0; i < CONTEXTS; i++) {
        threads[i].tcb = TCB + i;
        threads[i].reply = REPLY + i;
        threads[i].cpi = &cpi;
        threads[i].context = &contexts[i];
        threads[i].start = start;
        contexts[i].id = (uint16_t)(ID + i);
        contexts[i].held = i + 1;
        contexts[i].reply = KEPT + i;
        contexts[i].timeout = TIMEOUT + i;
        atomic_store(&contexts[i].worker, &threads[i]);
        atomic_store(&contexts[i].effective, (uint8_t)(60 + i));
    }
    contexts[A].time = T_A;
    payers[0] = (struct camkes_payer){.id = ID + A, .time = T_A};
    payers[1] = (struct camkes_payer){.id = ID + B, .time = T_B};
    atomic_store(&cpi.lock, contexts[A].held);
}

/* What the state is to be, but for what a test writes into it. */
static void want(void)
{
    memcpy(want_threads, threads, sizeof threads);
    memcpy(want_contexts, contexts, sizeof contexts);
    memcpy(&want_cpi, &cpi, sizeof cpi);
}

static void need_state(const char *what)
{
    need(memcmp(want_threads, threads, sizeof threads) == 0, what);
    need(memcmp(want_contexts, contexts, sizeof contexts) == 0, what);
    need(memcmp(&want_cpi, &cpi, sizeof cpi) == 0, what);
}

static void need_all(const char *calls, const char *what)
{
    need_calls(calls);
    need_state(what);
}
