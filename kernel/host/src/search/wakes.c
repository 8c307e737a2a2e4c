/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* At the end of a schedule: which threads would go on with another arrival, see oracle_liveness.c.
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
    const struct oracle_memory *memory = &oracle->threads[thread->number];
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

/* Whether some thread waits that should not at the end, unless it goes on. */
static bool is_asked(void)
{
    bool found = false;
    for (unsigned i = 0; i < kernel->thread_count && !found; i++) {
        const struct oracle_memory *memory = &oracle->threads[i];
        found = memory->in_job || memory->call_cpi != NONE || memory->reason == CAMKES_BLOCK_SEND ||
                memory->reason == CAMKES_BLOCK_CALL || memory->reason == CAMKES_BLOCK_REPLY;
    }
    return found;
}

/* With another arrival. */
void wakes_find(void)
{
    bool changed = kernel->options.arrivals != 0 && is_asked();
    while (changed) {
        changed = false;
        for (unsigned i = 0; i < kernel->thread_count; i++) {
            if (!oracle->threads[i].goes_on && can_go_on(&kernel->threads[i])) {
                oracle->threads[i].goes_on = changed = true;
            }
        }
    }
}
