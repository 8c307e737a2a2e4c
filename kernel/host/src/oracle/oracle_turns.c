/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * P in a band that is ordered by deadlines: when a job begins, each job of the band that is under
 * way has a higher priority than those with later deadlines.
 */
#include "search/search.h"

static const struct oracle_turn *turn_of(unsigned context)
{
    for (unsigned i = 0; i < oracle_system.turn_count; i++) {
        if (oracle_system.turns[i].context == context) {
            return &oracle_system.turns[i];
        }
    }
    return NULL;
}

void oracle_turned(const uint64_t *args)
{
    struct oracle_memory *memory = oracle_control_of(args[0]);
    const struct oracle_turn *turn = turn_of((unsigned)args[0]);
    if (memory != NULL) {
        memory->turn = (uint8_t)args[1];
        if (memory->call_cpi == NONE || memory->turn > memory->request_turn) {
            memory->request_turn = memory->turn;
        }
        memory->due = turn != NULL && args[1] != turn->highest ? args[2] : 0;
    }
}

static void check(const struct oracle_turn *first, const struct oracle_turn *second)
{
    const struct oracle_memory *one = oracle_control_of(first->context);
    const struct oracle_memory *other = oracle_control_of(second->context);
    if (one->due != 0 && one->due < other->due && one->turn <= other->turn) {
        oracle_violation('P', "%s has the earlier deadline and no higher priority than %s",
                         oracle_context_name(first->context), oracle_context_name(second->context));
    }
}

void oracle_turns_check(const struct thread *thread)
{
    const struct oracle_turn *turn = turn_of(oracle_system.threads[thread->number].context);
    for (unsigned i = 0; turn != NULL && i < oracle_system.turn_count; i++) {
        for (unsigned j = 0; j < oracle_system.turn_count; j++) {
            const struct oracle_turn *first = &oracle_system.turns[i];
            const struct oracle_turn *second = &oracle_system.turns[j];
            if (first->band == turn->band && second->band == turn->band) {
                check(first, second);
            }
        }
    }
}
