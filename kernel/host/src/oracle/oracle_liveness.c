/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * L: at the end no thread waits for a lock or a reply, and no job is unfinished.
 *
 * The job of a task without a deadline may be a loop that waits for events. With arrivals in any
 * order, others that could emit them wait only because this search has no more arrivals. So such a
 * job may wait at the end for what a thread can send that would go on with another arrival.
 */
#include "search/search.h"

static bool can_send(const struct thread *thread, const struct object *object)
{
    for (seL4_Word i = 0; i < thread->space->slot_count; i++) {
        const struct cap *cap = &thread->space->slots[i];
        if ((cap->kind == OBJECT_ENDPOINT || cap->kind == OBJECT_NOTIFICATION) &&
            cap->object == object && (cap->rights & RIGHT_WRITE) != 0) {
            return true;
        }
    }
    return false;
}

static bool timer_signals(const struct object *notification)
{
    for (unsigned i = 0; i < kernel->object_count; i++) {
        const struct object *object = &kernel->objects[i];
        if (object->kind == OBJECT_TIMER && object->timer.notification == notification) {
            return true;
        }
    }
    return false;
}

/* Whether a timer, or a thread that goes on, can end what this one waits for. */
static bool can_go_on(const struct thread *thread)
{
    const struct oracle_memory *memory = oracle_memory_of(thread);
    if (thread->state == THREAD_BLOCKED_REPLY) {
        /* of a worker, or of the manager of a condition, which answers when others tell it to */
        return memory->receiver != NONE && oracle->threads[memory->receiver].goes_on &&
               (memory->waits_for != NONE ||
                oracle_system.threads[memory->receiver].role == ORACLE_WORKER);
    }
    if (thread->state != THREAD_BLOCKED_NOTIFICATION && thread->state != THREAD_BLOCKED_RECV) {
        return false;
    }
    bool found = thread->state == THREAD_BLOCKED_NOTIFICATION && timer_signals(thread->waits_for);
    for (unsigned i = 0; i < kernel->thread_count && !found; i++) {
        found = oracle->threads[i].goes_on && can_send(&kernel->threads[i], thread->waits_for);
    }
    return found;
}

static void find_those_that_go_on(void)
{
    bool changed = kernel->options.arrivals != 0;
    while (changed) {
        changed = false;
        for (unsigned i = 0; i < kernel->thread_count; i++) {
            if (!oracle->threads[i].goes_on && can_go_on(&kernel->threads[i])) {
                oracle->threads[i].goes_on = changed = true;
            }
        }
    }
}

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
    if (memory->call_cpi != NONE) {
        oracle_violation('L', "%s waits for a reply of %s for ever", oracle_thread_name(number),
                         oracle_cpi_name(memory->call_cpi));
    } else if (ours && memory->waits_for == NONE &&
               (memory->reason == CAMKES_BLOCK_SEND || memory->reason == CAMKES_BLOCK_CALL ||
                memory->reason == CAMKES_BLOCK_REPLY)) {
        oracle_violation('L', "%s waits for ever to send, or for a reply",
                         oracle_thread_name(number));
    } else if (memory->in_job) {
        oracle_violation('L', "%s waits %s", oracle_thread_name(number),
                         memory->goes_on
                             ? "in a job for what only another arrival can bring"
                             : "for ever in a job: no thread is left that could wake it");
    }
}

void oracle_check_liveness(void)
{
    for (unsigned i = 0; i < kernel->thread_count; i++) {
        if (oracle->threads[i].gone) {
            return; /* a thread that stopped at a fault may keep others waiting */
        }
    }
    for (unsigned i = 0; i < oracle_system.cpi_count; i++) {
        if (oracle->locks[i].queued > 0) {
            oracle_violation('L', "%s waits for the lock of %s for ever",
                             oracle_context_name(oracle->locks[i].queue[0]), oracle_cpi_name(i));
        }
    }
    find_those_that_go_on();
    for (unsigned i = 0; i < kernel->thread_count; i++) {
        check_thread(i);
    }
    for (unsigned i = 0; i < kernel->thread_count; i++) {
        oracle->threads[i].goes_on = false; /* not a part of the state */
    }
}
