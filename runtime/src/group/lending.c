/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Effective priorities in a group, computed from their definition: no priority remains that was
 * passed around a cycle.
 */
#include "lending.h"

#include "../core/nested.h"

unsigned camkes_ask_member(const struct camkes_member *member,
                           enum camkes_member_operation operation, uint8_t priority,
                           uint16_t detail, seL4_Word *result)
{
    const seL4_Word label = camkes_member_label(operation, priority, detail);
    seL4_SetMR(0, member->index);
    const seL4_Word answer = camkes_call_manager(member->manager, label, 1);
    *result = seL4_GetMR(0);
    return (unsigned)answer;
}

seL4_Word camkes_order_member(const struct camkes_member *member,
                              enum camkes_member_operation operation, uint8_t priority,
                              uint16_t detail)
{
    seL4_Word result = 0;
    camkes_must_grant(camkes_ask_member(member, operation, priority, detail, &result),
                      member->name);
    return result;
}

/* -- effective priorities -- */

static bool inherit(struct camkes_member *member, uint8_t priority, uint16_t cause)
{
    if (priority <= member->computed) {
        return false;
    }
    member->computed = priority;
    member->cause = cause;
    return true;
}

uint8_t camkes_lends(const struct camkes_group *group, const struct camkes_waiter *waiter)
{
    return waiter->now == CAMKES_NO_MEMBER ? waiter->priority : group->member[waiter->now].computed;
}

/* What requests, locks and conditions pass on once; whether that changed anything. Not inlined: the
 * loop around it has a bound of its own. */
static __attribute__((noinline)) bool pass_on(struct camkes_group *group)
{
    struct camkes_member *const members = group->member;
    bool changed = false;
    /* at most paths times: each once */
    for (unsigned i = 0; i < group->paths; i++) {
        const struct camkes_member *from = &members[group->path[i].from];
        struct camkes_member *to = &members[group->path[i].to];
        changed |= to->linked && inherit(to, from->computed, from->cause);
    }
    /* at most members times: each once */
    for (unsigned i = 0; i < group->members; i++) {
        const struct camkes_member *waiter = &members[i];
        const uint16_t holder = waiter->waiting ? members[waiter->lock].holder : CAMKES_NO_MEMBER;
        changed |= holder != CAMKES_NO_MEMBER &&
                   inherit(&members[holder], waiter->computed, waiter->context);
    }
    /* at most waiters times: each once */
    for (unsigned i = 0; i < group->waiters; i++) {
        const struct camkes_waiter *waiter = &group->waiter[i];
        const struct camkes_lender *condition = &group->condition[waiter->condition];
        /* at most helpers times: each once */
        for (unsigned h = 0; waiter->waiting && h < condition->helpers; h++) {
            struct camkes_member *helper = &members[condition->helper[h]];
            changed |= helper->context != waiter->origin &&
                       inherit(helper, camkes_lends(group, waiter), waiter->origin);
        }
    }
    return changed;
}

void camkes_compute_lending(struct camkes_group *group)
{
    /* at most members times: each once */
    for (unsigned i = 0; i < group->members; i++) {
        struct camkes_member *member = &group->member[i];
        member->computed = member->request > member->base ? member->request : member->base;
        member->cause = member->context;
    }
    /* at most members times: each time, a priority gets one member further on its way */
    while (pass_on(group)) {
    }
}

/* A member is in a request, which uses `slot` (0: it is in none), and has a priority to pass on. */
static bool link(struct camkes_group *group, uint16_t from, seL4_Word slot)
{
    /* at most paths times: each once */
    for (unsigned i = 0; i < group->paths; i++) {
        const struct camkes_path *path = &group->path[i];
        if (path->from == from && path->slot == slot) {
            group->member[path->to].linked = true;
            return true;
        }
    }
    return false;
}

void camkes_apply_lending(struct camkes_group *group)
{
    bool linked;
    /* at most members + 2 times: each is linked once, then none rises */
    do {
        camkes_compute_lending(group);
        linked = false;
        /* at most members times: each once */
        for (unsigned i = 0; i < group->members; i++) {
            struct camkes_member *member = &group->member[i];
            if (member->computed < member->effective) {
                member->effective = member->computed;
                (void)camkes_order_member(member, CAMKES_SET_PRIORITY, member->computed,
                                          member->cause);
            }
        }
        /* at most members times: each once */
        for (unsigned i = 0; i < group->members; i++) {
            struct camkes_member *member = &group->member[i];
            if (member->computed > member->effective) {
                member->effective = member->computed;
                linked |= link(group, (uint16_t)i,
                               camkes_order_member(member, CAMKES_SET_PRIORITY, member->computed,
                                                   member->cause));
            }
        }
    } while (linked);
}
