/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* A CPI on an MCS kernel, for tests of its overruns. Scheduling contexts are as those of the
 * kernel: bound to one thread, with a budget or not. */
#pragma once

#include "../../../runtime/src/time/overrun.h"
#include "../../../runtime/src/core/queue.h"
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOW, MID, HIGH, TOP, CONTEXTS };
/* scheduling contexts: of the contexts, of tasks further up, of the CPI, and one it does not know
 */
enum { T_LOW = 3, T_MID, T_HIGH, T_TOP, T_FAR, T_NEAR, T_MORE, EXTENSION, HOME, UNKNOWN, TIMES };
enum { FAR, NEAR, MORE, PAYERS }; /* MORE: the extension of a task's CPI, not of the task */
enum { TCB = 10, TIMEOUT = 20, REPLY = 30, ID = 50, FAR_ID = 60, NEAR_ID, CALLERS = 3 };

/* the last is the spare one */
static struct camkes_thread threads[CONTEXTS + 1], self = {.reply = REPLY}, stranger = {.tcb = 1};
/* the first and the last are none of the CPI: they would wait, or have the lock, if they were */
static struct camkes_context table[CONTEXTS + 2], *const contexts = table + 1;
static struct camkes_caller callers[CALLERS];
static struct camkes_payer payers[PAYERS];
static struct camkes_cpi cpi;
static const char *now;
static seL4_IPCBuffer buffer;
static char told[200];
static struct camkes_thread *kept, *aborted;
static bool held_then, refuses;
static unsigned binds, replies, returned, timeouts[CONTEXTS];
static int refused;
static jmp_buf fatal;

/* of the kernel */
static struct camkes_thread *bound[TIMES];
static bool budget[TIMES], blocked[CONTEXTS + 1];

static void need(bool good, const char *what)
{
    if (!good) {
        printf("%s: %s\n", now, what);
        exit(1);
    }
}

static unsigned number(const struct camkes_thread *worker)
{
    return (unsigned)(worker - threads);
}

seL4_IPCBuffer *seL4_GetIPCBuffer(void)
{
    return &buffer;
}

static seL4_CPtr time_of(const struct camkes_thread *worker)
{
    for (seL4_CPtr i = 1; i < TIMES; i++) {
        if (bound[i] == worker) {
            return i;
        }
    }
    return 0;
}

seL4_Error seL4_SchedContext_Bind(seL4_CPtr context, seL4_CPtr tcb)
{
    need(context >= T_LOW && context < TIMES && tcb >= TCB && tcb <= TCB + CONTEXTS,
         "no capability");
    struct camkes_thread *const worker = &threads[tcb - TCB];
    binds++;
    if (bound[context] != NULL || time_of(worker) != 0 ||
        (blocked[tcb - TCB] && !budget[context])) {
        need(tcb - TCB != LOW || time_of(worker) == 0, "it has time, as is known");
        return seL4_IllegalOperation;
    }
    bound[context] = worker;
    need(blocked[tcb - TCB] || context == worker->withdrawn ||
             (worker->donated == context &&
              (atomic_load(camkes_lock_of(&cpi)) & CAMKES_WAITERS) != 0),
         "it executes before all is said");
    return seL4_NoError;
}

seL4_Error seL4_SchedContext_UnbindObject(seL4_CPtr context, seL4_CPtr tcb)
{
    need(context >= T_LOW && context < TIMES && tcb >= TCB && tcb <= TCB + CONTEXTS,
         "no capability");
    if (bound[context] != &threads[tcb - TCB]) {
        return seL4_IllegalOperation;
    }
    bound[context] = NULL;
    return seL4_NoError;
}

seL4_Error seL4_TCB_SetTimeoutEndpoint(seL4_TCB tcb, seL4_CPtr endpoint)
{
    need(endpoint >= TIMEOUT && tcb >= TCB && tcb < TCB + CONTEXTS, "no capability");
    timeouts[tcb - TCB] = (unsigned)endpoint;
    return (int)tcb == refused ? seL4_IllegalOperation : seL4_NoError;
}

/* The answer to a fault, or to the worker that gives up the lock: here always that of LOW. */
void seL4_Send(seL4_CPtr to, seL4_MessageInfo_t info)
{
    const seL4_Word answer = refuses ? CAMKES_MESSAGE_OPERATION : CAMKES_MESSAGE_GOOD;
    need(to == REPLY && info.words[0] == seL4_MessageInfo_new(answer, 0, 0, 0).words[0],
         "another message");
    replies++;
    blocked[LOW] = false;
}

bool camkes_platform_keep_reply(const struct camkes_thread *thread)
{
    need(replies == 0, "it goes on before its reply is kept");
    kept = &threads[number(thread)];
    return false;
}

void camkes_platform_fault(void)
{
    longjmp(fatal, 1);
}

void camkes_nested_tell(struct camkes_context *context, uint8_t priority, uint16_t cause)
{
    char one[40];
    (void)snprintf(one, sizeof one, "%d: %u of %u\n", (int)(context - contexts), priority, cause);
    strcat(told, one);
}

void camkes_overrun_abort(struct camkes_cpi *of, struct camkes_thread *worker, bool holds)
{
    need(of == &cpi && time_of(worker) == 0 && replies == 0, "it has time");
    aborted = worker;
    held_then = holds;
}

struct camkes_context *camkes_overrun_return(struct camkes_cpi *of, struct camkes_thread *worker,
                                             enum camkes_return when)
{
    need(of == &cpi && when == (enum camkes_return)returned, "another return");
    aborted = worker;
    return &contexts[MID];
}

void camkes_overrun_resume(struct camkes_cpi *of, uint16_t task)
{
    need(of == &cpi && task == 0x81, "another task is resumed");
    replies++;
}

/* LOW holds the lock, and the others have no request. */
static void begin(const char *what)
{
    now = what;
    memset(threads, 0, sizeof threads);
    memset(table, 0, sizeof table);
    memset(bound, 0, sizeof bound);
    memset(budget, 0, sizeof budget);
    memset(blocked, 0, sizeof blocked);
    memset(told, 0, sizeof told);
    memset(timeouts, 0, sizeof timeouts);
    cpi = (struct camkes_cpi){.contexts = CONTEXTS,
                              .callers = CALLERS,
                              .context = contexts,
                              .caller = callers,
                              .spare = &threads[CONTEXTS],
                              .payer = payers,
                              .payers = PAYERS,
                              .home = {.context = HOME}};
    threads[CONTEXTS].tcb = TCB + CONTEXTS;
    blocked[CONTEXTS] = true;
    for (unsigned i = 0; i < CONTEXTS; i++) {
        threads[i] = (struct camkes_thread){.tcb = TCB + i, .cpi = &cpi, .context = &contexts[i]};
        contexts[i] = (struct camkes_context){.id = (uint16_t)(ID + i),
                                              .held = i + 1,
                                              .worker = &threads[i],
                                              .time = T_LOW + i,
                                              .timeout = TIMEOUT + i,
                                              .base = (uint8_t)(10 * (i + 1)),
                                              .request = (uint8_t)(10 * (i + 1)),
                                              .effective = (uint8_t)(10 * (i + 1)),
                                              .cause = (uint16_t)(ID + i)};
        blocked[i] = i != LOW; /* for requests */
    }
    bound[T_LOW] = &threads[LOW];
    payers[FAR] = (struct camkes_payer){.id = FAR_ID, .time = T_FAR, .asked = true};
    payers[NEAR] = (struct camkes_payer){.id = NEAR_ID, .time = T_NEAR};
    payers[MORE] = (struct camkes_payer){.id = CAMKES_NO_TASK, .time = T_MORE};
    table[0] = (struct camkes_context){.rank = 1};
    table[CONTEXTS + 1] = (struct camkes_context){.rank = UINT64_MAX,
                                                  .held = contexts[LOW].held,
                                                  .worker = &stranger,
                                                  .request = 255,
                                                  .effective = 255};
    contexts[HIGH].asked = contexts[MID].asked = true; /* in an earlier overrun */
    atomic_store(&cpi.lock, contexts[LOW].held);
    kept = aborted = NULL;
    binds = replies = 0;
    held_then = false;
}

/* A context waits for the lock of LOW; a lower number: it began earlier. */
static void wait(unsigned index, unsigned began)
{
    contexts[index].rank = contexts[index].request * CAMKES_RANKS + CAMKES_RANKS - 1 - began;
    bound[T_LOW + index] = &threads[index];
    atomic_fetch_or(&cpi.lock, CAMKES_WAITERS);
}

/* A context does not have its time any more. */
static void withdrawn(unsigned index)
{
    threads[index].state = CAMKES_WORKER_WITHDRAWN;
    threads[index].withdrawn = T_LOW + index;
}

static inline void stalled(unsigned index)
{
    threads[index].state = CAMKES_WORKER_STALLED;
}

/* LOW executes on the time of a context that waits, of a task further up, or of the CPI. */
static void execute_on(seL4_CPtr time)
{
    bound[T_LOW] = NULL;
    withdrawn(LOW);
    threads[LOW].state = time == EXTENSION ? CAMKES_WORKER_EXTENDED : CAMKES_WORKER_HELPED;
    threads[LOW].donated = time;
    if (time <= T_TOP) {
        withdrawn((unsigned)(time - T_LOW));
    }
    bound[time] = &threads[LOW];
    atomic_fetch_or(&cpi.lock, CAMKES_WAITERS);
}

static void above(unsigned payer, unsigned awaits, uint8_t priority)
{
    payers[payer].awaits = (uint16_t)(awaits + 1);
    payers[payer].priority = priority;
    budget[payers[payer].time] = true;
}

/* What LOW executes on, the same if it is not its own, and its own while it does not have that. */
static void need_time(seL4_CPtr time, seL4_CPtr own, bool stalls)
{
    need(time_of(&threads[LOW]) == time, "another one pays");
    need(threads[LOW].donated == (time == T_LOW || time == 0 ? 0 : time),
         "another record of who pays");
    need(threads[LOW].withdrawn == own, "its own time");
    need((threads[LOW].state == CAMKES_WORKER_STALLED) == stalls,
         stalls ? "nobody waits for it" : "it has time");
    need(stalls || time == T_LOW || time == 0 || cpi.unlocked || cpi.grouped ||
             (atomic_load(camkes_lock_of(&cpi)) & CAMKES_WAITERS) != 0,
         "the manager does not learn of the release");
}

static void need_told(const char *wanted)
{
    if (strcmp(told, wanted) != 0) {
        printf("%s: told\n%sinstead of\n%s", now, told, wanted);
        exit(1);
    }
    told[0] = 0;
}
