/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * P in a band: a job that begins has a priority of its own, and where they are ordered by deadlines
 * it is its deadline that orders it, and each job of the band that is under way has a higher
 * priority than those with later deadlines.
 */
#include "oracle/oracle.h"

static const struct oracle_turn *turn_of(uint64_t context)
{
    for (unsigned i = 0; i < oracle_system.turn_count; i++) {
        if (oracle_system.turns[i].context == context) {
            return &oracle_system.turns[i];
        }
    }
    return NULL;
}

static struct oracle_memory *control_of(const struct oracle_turn *turn)
{
    const unsigned control = oracle_system.contexts[turn->context].control;
    return control == NONE ? NULL : &oracle->threads[control];
}

void oracle_turned(const uint64_t *args)
{
    const struct oracle_turn *turn = turn_of(args[0]);
    struct oracle_memory *memory = turn == NULL ? NULL : control_of(turn);
    if (memory == NULL) {
        return; /* no scheduler decides about it */
    }
    memory->turn = (uint8_t)args[1];
    if (memory->call_cpi == NONE || memory->turn > memory->request_turn) {
        memory->request_turn = memory->turn;
    }
    memory->due = turn->ordered && args[1] != turn->highest ? args[2] : 0;
}

static void check_begin(const struct oracle_turn *turn, const struct oracle_memory *memory,
                        uint64_t release)
{
    const char *name = oracle_context_name(turn->context);
    uint64_t deadline = release;
    for (unsigned i = 0; i < oracle_system.task_count; i++) {
        const struct oracle_task *task = &oracle_system.tasks[i];
        deadline += task->context == turn->context ? task->deadline : 0;
    }
    if (memory->turn == turn->highest) {
        oracle_violation('P', "a job of %s begins at the priority of its scheduler", name);
    } else if (oracle_system.planned && memory->due != 0 && memory->due != deadline) {
        oracle_violation('P', "a job of %s is ordered by %lu ns; its deadline is %lu ns", name,
                         (unsigned long)memory->due, (unsigned long)deadline);
    }
}

static void check_order(const struct oracle_turn *first, const struct oracle_turn *second)
{
    const struct oracle_memory *one = control_of(first), *other = control_of(second);
    if (one && other && one->due != 0 && one->due < other->due && one->turn <= other->turn) {
        oracle_violation('P', "%s has the earlier deadline and no higher priority than %s",
                         oracle_context_name(first->context), oracle_context_name(second->context));
    }
}

void oracle_turns_check(unsigned thread, uint64_t release)
{
    const struct oracle_thread *known = &oracle_system.threads[thread];
    const struct oracle_turn *turn = known->role == ORACLE_CONTROL ? turn_of(known->context) : NULL;
    if (turn == NULL) {
        return;
    }
    check_begin(turn, &oracle->threads[thread], release);
    for (unsigned i = 0; i < oracle_system.turn_count; i++) {
        for (unsigned j = 0; j < oracle_system.turn_count; j++) {
            const struct oracle_turn *first = &oracle_system.turns[i];
            const struct oracle_turn *second = &oracle_system.turns[j];
            if (first->band == turn->band && second->band == turn->band) {
                check_order(first, second);
            }
        }
    }
}
