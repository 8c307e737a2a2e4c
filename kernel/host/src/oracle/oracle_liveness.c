/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * L: at the end no thread waits for a lock or a reply, and in a search no job is unfinished.
 *
 * The job of a task without a deadline may be a loop that waits for events. With arrivals in any
 * order, others that could emit them wait only because this search has no more arrivals. So such a
 * job may wait at the end for what a thread can send that would go on with another arrival.
 */
#include "oracle/oracle.h"

void (*oracle_find_going_on)(void);

static bool has_deadline(unsigned task)
{
    for (unsigned i = 0; i < oracle_system.task_count; i++) {
        if (oracle_system.tasks[i].id == task && oracle_system.tasks[i].deadline != 0) {
            return true;
        }
    }
    return false;
}

static void check_thread(unsigned number)
{
    const struct oracle_memory *memory = &oracle->threads[number];
    const struct oracle_thread *known = &oracle_system.threads[number];
    const bool ours = known->task != NONE || known->cpi != NONE;
    if (memory->goes_on && !has_deadline(known->task != NONE ? known->task : memory->origin)) {
        return;
    }
    const bool suspends = memory->call_cpi != NONE && oracle_system.cpis[memory->call_cpi].suspends;
    if (suspends) {
        return;
    }
    if (memory->call_cpi != NONE) {
        oracle_violation('L', "%s waits for a reply of %s for ever", oracle_thread_name(number),
                         oracle_cpi_name(memory->call_cpi));
    } else if ((ours || oracle_system.search) && memory->waits_for == NONE &&
               (memory->reason == CAMKES_BLOCK_SEND || memory->reason == CAMKES_BLOCK_CALL ||
                memory->reason == CAMKES_BLOCK_REPLY)) {
        oracle_violation('L', "%s waits for ever to send, or for a reply",
                         oracle_thread_name(number));
    } else if (oracle_system.search && memory->in_job) {
        oracle_violation('L', "%s waits %s", oracle_thread_name(number),
                         memory->goes_on
                             ? "in a job for what only another arrival can bring"
                             : "for ever in a job: no thread is left that could wake it");
    }
}

void oracle_check_liveness(void)
{
    for (unsigned i = 0; i < oracle_system.thread_count; i++) {
        if (oracle->threads[i].gone) {
            return; /* a thread that stopped at a fault may keep others waiting */
        }
    }
    for (unsigned i = 0; i < oracle_system.cpi_count; i++) {
        if (oracle->locks[i].queued > 0) {
            oracle_violation('L', "%s waits for the lock of %s for ever",
                             oracle_context_name(oracle->locks[i].queue[0]), oracle_lock_name(i));
        }
    }
    if (oracle_find_going_on) {
        oracle_find_going_on();
    }
    for (unsigned i = 0; i < oracle_system.thread_count; i++) {
        check_thread(i);
    }
    for (unsigned i = 0; i < oracle_system.thread_count; i++) {
        oracle->threads[i].goes_on = false; /* not a part of the state */
    }
}
