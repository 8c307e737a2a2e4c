/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Effective priorities in a group, computed from their definition: no priority remains that was
 * passed around a cycle.
 */
#include "lending.h"

#include "nested.h"

unsigned camkes_ask_member(const struct camkes_party *party, enum camkes_member_operation operation,
                           uint8_t priority, uint16_t detail, seL4_Word *result)
{
    const seL4_Word label = camkes_member_label(operation, priority, detail);
    seL4_SetMR(0, party->index);
    const seL4_Word answer = camkes_call_manager(party->manager, label, 1);
    *result = seL4_GetMR(0);
    return (unsigned)answer;
}

seL4_Word camkes_order_member(const struct camkes_party *party,
                              enum camkes_member_operation operation, uint8_t priority,
                              uint16_t detail)
{
    seL4_Word result = 0;
    camkes_must_grant(camkes_ask_member(party, operation, priority, detail, &result), party->name);
    return result;
}

/* -- effective priorities -- */

static bool inherit(struct camkes_party *party, uint8_t priority, uint16_t cause)
{
    if (priority <= party->computed) {
        return false;
    }
    party->computed = priority;
    party->cause = cause;
    return true;
}

uint8_t camkes_lends(const struct camkes_group *group, const struct camkes_sleeper *sleeper)
{
    return sleeper->now == CAMKES_NO_PARTY ? sleeper->priority
                                           : group->party[sleeper->now].computed;
}

/* What requests, locks and conditions pass on once; whether that changed anything. */
static bool pass_on(struct camkes_group *group)
{
    struct camkes_party *const parties = group->party;
    bool changed = false;
    for (unsigned i = 0; i < group->ways; i++) {
        const struct camkes_party *from = &parties[group->way[i].from];
        struct camkes_party *to = &parties[group->way[i].to];
        changed |= to->linked && inherit(to, from->computed, from->cause);
    }
    for (unsigned i = 0; i < group->parties; i++) {
        const struct camkes_party *waiter = &parties[i];
        const uint16_t holder = waiter->waiting ? parties[waiter->lock].holder : CAMKES_NO_PARTY;
        changed |= holder != CAMKES_NO_PARTY &&
                   inherit(&parties[holder], waiter->computed, waiter->context);
    }
    for (unsigned i = 0; i < group->sleepers; i++) {
        const struct camkes_sleeper *sleeper = &group->sleeper[i];
        const struct camkes_lender *condition = &group->condition[sleeper->condition];
        for (unsigned h = 0; sleeper->waiting && h < condition->helpers; h++) {
            struct camkes_party *helper = &parties[condition->helper[h]];
            changed |= helper->context != sleeper->origin &&
                       inherit(helper, camkes_lends(group, sleeper), sleeper->origin);
        }
    }
    return changed;
}

void camkes_compute_lending(struct camkes_group *group)
{
    for (unsigned i = 0; i < group->parties; i++) {
        struct camkes_party *party = &group->party[i];
        party->computed = party->request > party->base ? party->request : party->base;
        party->cause = party->context;
    }
    while (pass_on(group)) {
    }
}

/* A party is in a request, which uses `slot` (0: it is in none), and has a priority to pass on. */
static bool link(struct camkes_group *group, uint16_t from, seL4_Word slot)
{
    for (unsigned i = 0; i < group->ways; i++) {
        const struct camkes_way *way = &group->way[i];
        if (way->from == from && way->slot == slot) {
            group->party[way->to].linked = true;
            return true;
        }
    }
    return false;
}

void camkes_apply_lending(struct camkes_group *group)
{
    bool linked;
    do {
        camkes_compute_lending(group);
        linked = false;
        for (unsigned i = 0; i < group->parties; i++) {
            struct camkes_party *party = &group->party[i];
            if (party->computed < party->effective) {
                party->effective = party->computed;
                (void)camkes_order_member(party, CAMKES_SET_PRIORITY, party->computed,
                                          party->cause);
            }
        }
        for (unsigned i = 0; i < group->parties; i++) {
            struct camkes_party *party = &group->party[i];
            if (party->computed > party->effective) {
                party->effective = party->computed;
                linked |= link(
                    group, (uint16_t)i,
                    camkes_order_member(party, CAMKES_SET_PRIORITY, party->computed, party->cause));
            }
        }
    } while (linked);
}
