/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * What follows from the kernel's records of messages and timers alone: which threads wait for the
 * reply of which, on behalf of which task a request is made, and when jobs are released.
 */
#include "oracle/oracle.h"

static bool waits_for_reply(unsigned client, unsigned server)
{
    return oracle->threads[client].receiver == server &&
           oracle->threads[client].reason == CAMKES_BLOCK_REPLY;
}

static void lost(unsigned client, unsigned server)
{
    oracle_violation('L', "%s waits for a reply of %s, which waits for the next message",
                     oracle_thread_name(client), oracle_thread_name(server));
    oracle->threads[client].receiver = NONE;
}

/* L: a server that waits for its next message has answered the last, but for those in a queue. */
static void check_answered(unsigned thread)
{
    const struct oracle_thread *known = &oracle_system.threads[thread];
    const bool serves = known->role == ORACLE_WORKER || known->role == ORACLE_MANAGER ||
                        known->role == ORACLE_INTERFACE;
    if (!serves || (known->cpi != NONE && oracle_system.cpis[known->cpi].suspends)) {
        return;
    }
    for (unsigned i = 0; i < oracle_system.thread_count; i++) {
        const struct oracle_memory *client = &oracle->threads[i];
        const bool kept = client->queued || client->waits_for != NONE;
        if (waits_for_reply(i, thread) && !kept) {
            lost(i, thread);
        }
    }
}

static void blocks(unsigned thread, unsigned other, uint64_t reason)
{
    if (reason == CAMKES_BLOCK_RECV) {
        check_answered(thread);
    } else if (reason == CAMKES_BLOCK_SUSPENDED) {
        if (other != NONE && waits_for_reply(thread, other)) {
            lost(thread, other); /* which uses the reply for the next message */
        }
        oracle->threads[thread].receiver = NONE;
    }
}

/* Those whose reply it keeps are answered later, when the component sees fit. */
static void keep_callers(unsigned thread)
{
    for (unsigned i = 0; i < oracle_system.thread_count; i++) {
        if (waits_for_reply(i, thread)) {
            oracle->threads[i].receiver = NONE;
        }
    }
}

/* Before the record changes what the thread does. */
void oracle_message(uint16_t kind, unsigned thread, unsigned other, const uint64_t *args)
{
    struct oracle_memory *memory = &oracle->threads[thread];
    const bool manages = oracle_system.threads[thread].role == ORACLE_MANAGER;
    switch (kind) {
    case CAMKES_TRACE_TRANSFER:
        if (other != NONE) {
            memory->receiver = (uint16_t)other;
            if (oracle_system.mcs || oracle_system.threads[other].role != ORACLE_MANAGER) {
                oracle->threads[other].sender = (uint16_t)thread; /* others need none */
            }
        }
        break;
    case CAMKES_TRACE_BLOCK:
        blocks(thread, other, args[0]);
        break;
    case CAMKES_TRACE_READY:
    case CAMKES_TRACE_FAULT:
    case CAMKES_TRACE_EXIT:
        memory->receiver = NONE;
        break;
    case CAMKES_TRACE_KCALL:
        if (args[0] == CAMKES_KCALL_SAVECALLER && !manages) {
            keep_callers(thread);
        }
        break;
    default:
        break;
    }
}

/* S: the task of the request that a thread begins, which claims to be of this one. */
uint16_t oracle_true_task(unsigned thread, uint64_t claimed)
{
    const unsigned sender = oracle->threads[thread].sender;
    const bool begins_here = sender != NONE && oracle_system.threads[sender].role == ORACLE_CONTROL;
    unsigned task = NONE;
    if (sender != NONE) {
        task = begins_here ? oracle_system.threads[sender].task : oracle->threads[sender].origin;
    }
    if (task == NONE && !begins_here) {
        return (uint16_t)claimed; /* the records do not show it */
    }
    if (task != claimed) {
        oracle_violation('S', "%s serves a request as one of task %s; it is of task %s",
                         oracle_thread_name(thread), oracle_task_name((unsigned)claimed),
                         oracle_task_name(task));
    }
    return (uint16_t)task;
}

/* What releases the jobs of a task: its timer, NULL: this object is none. */
static const struct oracle_task *task_of_timer(uint64_t object)
{
    for (unsigned i = 0; i < oracle_system.task_count; i++) {
        const struct oracle_task *task = &oracle_system.tasks[i];
        if (task->timer != NONE && task->timer == object) {
            return task;
        }
    }
    return NULL;
}

static const struct oracle_task *task_of_thread(unsigned thread)
{
    const unsigned id = thread == NONE ? NONE : oracle_system.threads[thread].task;
    for (unsigned i = 0; id != NONE && i < oracle_system.task_count; i++) {
        if (oracle_system.tasks[i].id == id) {
            return &oracle_system.tasks[i];
        }
    }
    return NULL;
}

/* S: jobs are released at the times in the text. */
void oracle_released(uint16_t kind, unsigned thread, uint64_t time, const uint64_t *args)
{
    const bool timer = kind == CAMKES_TRACE_TIMER;
    if (!oracle_system.planned ||
        !(timer || kind == CAMKES_TRACE_JOB_BEGIN || kind == CAMKES_TRACE_JOB_END)) {
        return;
    }
    const struct oracle_task *task = timer ? task_of_timer(args[0]) : task_of_thread(thread);
    const uint64_t job = timer ? args[1] - 1 : args[0], when = timer ? time : args[1];
    if (task == NULL || (task->period == 0 && (job > 0 || task->offset == 0))) {
        return; /* or by events, or at boot */
    }
    const uint64_t release = task->offset + job * task->period;
    if (time < release) {
        oracle_violation('S', "job %lu of %s begins before its release at %lu ns",
                         (unsigned long)job, task->name, (unsigned long)release);
    } else if (when != release) {
        oracle_violation('S', "job %lu of %s is released at %lu ns and not at %lu ns",
                         (unsigned long)job, task->name, (unsigned long)when,
                         (unsigned long)release);
    }
}
