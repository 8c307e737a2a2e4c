/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * B: while a task could execute, or waits for a lock, tasks of lower priority work no longer, and
 * no more of them, than its blocking allows. That is counted anew from the end of each job, and
 * from each wait for something else (a release, an event, a semaphore, a reply without a protocol),
 * in which they may do anything.
 */
#include "oracle/oracle.h"

static unsigned index_of(unsigned task)
{
    unsigned i = 0;
    while (i < oracle_system.task_count && oracle_system.tasks[i].id != task) {
        i++;
    }
    return i;
}

static unsigned control_of(unsigned task)
{
    unsigned i = 0;
    while (i < oracle_system.thread_count && (oracle_system.threads[i].role != ORACLE_CONTROL ||
                                              oracle_system.threads[i].task != task)) {
        i++;
    }
    return i;
}

/* Whether a thread, or the one that serves its request, could execute or waits for a lock. */
static bool could_go_on(unsigned thread)
{
    for (unsigned i = 0; i < oracle_system.thread_count && thread < oracle_system.thread_count;
         i++) {
        const struct oracle_memory *memory = &oracle->threads[thread];
        if (memory->waits_for != NONE || oracle_system.threads[thread].role == ORACLE_INTERFACE) {
            return false;
        }
        if (memory->runnable || memory->queued) {
            return true;
        }
        if (memory->reason == CAMKES_BLOCK_CALL) {
            return memory->call_cpi != NONE;
        }
        if (memory->reason != CAMKES_BLOCK_REPLY) {
            return false;
        }
        thread = memory->receiver;
    }
    return false;
}

static void end_count(unsigned limit)
{
    oracle->blocked[limit] = (struct oracle_blocked){0};
}

void oracle_blocking_of_job(unsigned task)
{
    for (unsigned i = 0; i < oracle_system.limit_count; i++) {
        if (oracle_system.limits[i].task == task) {
            end_count(i);
        }
    }
}

void oracle_blocking_waits(void)
{
    for (unsigned i = 0; i < oracle_system.limit_count; i++) {
        if (!could_go_on(control_of(oracle_system.limits[i].task))) {
            end_count(i);
        }
    }
}

static void count(unsigned limit, unsigned lower, uint64_t time)
{
    const struct oracle_limit *most = &oracle_system.limits[limit];
    const struct oracle_task *task = &oracle_system.tasks[index_of(most->task)];
    struct oracle_blocked *blocked = &oracle->blocked[limit];
    blocked->lower |= (uint64_t)1 << lower;
    blocked->time += time;
    const unsigned tasks = (unsigned)__builtin_popcountll(blocked->lower);
    if (tasks > most->tasks) {
        oracle_violation('B',
                         "%s works before %s could go on; it is number %u of the tasks of lower "
                         "priority that have, and by the analysis at most %u can",
                         oracle_system.tasks[lower].name, task->name, tasks, most->tasks);
    }
    if (blocked->time > most->time) {
        oracle_violation('B',
                         "%s works before %s could go on; with it tasks of lower priority have for "
                         "%lu ns, and by the analysis can for at most %lu ns",
                         oracle_system.tasks[lower].name, task->name, (unsigned long)blocked->time,
                         (unsigned long)most->time);
    }
}

void oracle_blocking_worked(unsigned thread, uint64_t time)
{
    const bool control = oracle_system.threads[thread].role == ORACLE_CONTROL;
    const unsigned lower =
        index_of(control ? oracle_system.threads[thread].task : oracle->threads[thread].origin);
    for (unsigned i = 0; i < oracle_system.limit_count && lower < oracle_system.task_count; i++) {
        const uint16_t task = oracle_system.limits[i].task;
        if (oracle_system.tasks[lower].priority >= oracle_system.tasks[index_of(task)].priority) {
            continue;
        }
        if (could_go_on(control_of(task))) {
            count(i, lower, time);
        } else {
            end_count(i);
        }
    }
}
