/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * The manager of a group: conditions, tasks and CPIs among which priorities can be lent. It has all
 * queues of the group, computes all effective priorities from their definition whenever a wait
 * begins or ends, and has those that differ set by the managers of the tasks and CPIs. These send
 * no messages to each other, so that a cycle of lending causes no deadlock, and no priority remains
 * that was passed around one.
 */
#include "nested.h"

#include <camkes/condition.h>
#include <camkes/error.h>
#include <camkes/label.h>

#define REPLY_LATER (1u << 8)

/* Sends the message of one party to the manager of its task or CPI. */
static unsigned ask_member(const struct camkes_party *party, seL4_Word label, seL4_Word *result)
{
    camkes_point();
    seL4_SetMR(0, party->index);
    const seL4_MessageInfo_t reply =
        seL4_Call(party->manager, seL4_MessageInfo_new(label, 0, 0, 1));
    camkes_point();
    *result = seL4_GetMR(0);
    return (unsigned)seL4_MessageInfo_get_label(reply);
}

static seL4_Word order(const struct camkes_party *party, enum camkes_operation operation,
                       uint8_t priority, uint16_t cause)
{
    seL4_Word result = 0;
    if (ask_member(party, camkes_operation_label(operation, priority, cause), &result) !=
        CAMKES_MESSAGE_GOOD) {
        camkes_manager_failed(party->name);
    }
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

static uint8_t lends(const struct camkes_group *group, const struct camkes_sleeper *sleeper)
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
                       inherit(helper, lends(group, sleeper), sleeper->origin);
        }
    }
    return changed;
}

static void compute(struct camkes_group *group)
{
    for (unsigned i = 0; i < group->parties; i++) {
        group->party[i].computed = group->party[i].base;
        group->party[i].cause = group->party[i].context;
    }
    while (pass_on(group)) {
    }
}

/* A party is in a request, which uses `slot`, and has a priority to pass on. */
static bool link(struct camkes_group *group, uint16_t from, seL4_Word slot)
{
    for (unsigned i = 0; slot != 0 && i < group->ways; i++) {
        const struct camkes_way *way = &group->way[i];
        if (way->from == from && way->slot == slot && !group->party[way->to].linked) {
            group->party[way->to].linked = true;
            return true;
        }
    }
    return false;
}

/* Sets the priorities that have changed, the lower ones first: a thread that has lost its priority
 * does not run before one that has got a priority. */
static void apply(struct camkes_group *group)
{
    bool linked = false;
    do {
        compute(group);
        linked = false;
        for (unsigned i = 0; i < group->parties; i++) {
            struct camkes_party *party = &group->party[i];
            if (party->computed < party->effective) {
                party->effective = party->computed;
                (void)order(party, CAMKES_SET_PRIORITY, party->computed, party->cause);
            }
        }
        for (unsigned i = 0; i < group->parties; i++) {
            struct camkes_party *party = &group->party[i];
            if (party->computed > party->effective) {
                party->effective = party->computed;
                linked |= link(group, (uint16_t)i,
                               order(party, CAMKES_SET_PRIORITY, party->computed, party->cause));
            }
        }
    } while (linked);
}

/* Whether a waiter of one priority and arrival comes before another. */
static bool before(uint8_t priority, uint32_t arrival, uint8_t other, uint32_t other_arrival)
{
    return priority != other ? priority > other
                             : (int32_t)(arrival - other_arrival) < 0; /* arrivals wrap around */
}

static void save_caller(seL4_CPtr *slot, const char *name)
{
    const seL4_Error error = camkes_platform_save_caller(slot);
    if (error != seL4_NoError) {
        camkes_fail("the reply to a waiter for %s cannot be kept: kernel error %d", name,
                    (int)error);
    }
}

static void wake(seL4_CPtr reply)
{
    camkes_point();
    seL4_Send(reply, seL4_MessageInfo_new(0, 0, 0, 0));
    camkes_point();
}

/* -- locks -- */

/* A party waits for a lock that another one of the same lock has. */
static void queue_up(struct camkes_group *group, struct camkes_party *party, seL4_Word holder)
{
    group->party[party->lock].holder = (uint16_t)(party->lock + holder - 1);
    party->waiting = true;
    party->arrival = group->arrivals++;
}

static unsigned acquire(struct camkes_group *group, struct camkes_party *party)
{
    seL4_Word holder = 0;
    if (party->lock == CAMKES_NO_PARTY || party->waiting) {
        return CAMKES_MESSAGE_OPERATION;
    }
    const unsigned error =
        ask_member(party, camkes_operation_label(CAMKES_TAKE_LOCK, 0, 0), &holder);
    if (error != CAMKES_MESSAGE_GOOD || holder == 0) {
        return error;
    }
    save_caller(&party->reply, party->name);
    queue_up(group, party, holder);
    apply(group);
    return REPLY_LATER;
}

static bool is_awaited(const struct camkes_group *group, uint16_t lock)
{
    for (unsigned i = 0; i < group->parties; i++) {
        if (group->party[i].waiting && group->party[i].lock == lock) {
            return true;
        }
    }
    return false;
}

/*
 * Gives a lock to the first that waits for it, which does not run yet. What waits for the lock no
 * longer counts for its holder, and what is lent is set before the first waiter is chosen.
 */
static struct camkes_party *hand_over(struct camkes_group *group, const struct camkes_party *from)
{
    struct camkes_party *next = NULL;
    unsigned waiting = 0;
    group->party[from->lock].holder = CAMKES_NO_PARTY;
    apply(group);
    for (unsigned i = 0; i < group->parties; i++) {
        struct camkes_party *party = &group->party[i];
        if (party->waiting && party->lock == from->lock) {
            waiting++;
            if (next == NULL ||
                before(party->effective, party->arrival, next->effective, next->arrival)) {
                next = party;
            }
        }
    }
    next->waiting = false;
    group->party[next->lock].holder = (uint16_t)(next - group->party);
    (void)order(next, CAMKES_GIVE_LOCK, waiting > 1, from->context);
    return next;
}

static bool has_awaited(const struct camkes_group *group, const struct camkes_party *party)
{
    return is_awaited(group, party->lock) &&
           &group->party[group->party[party->lock].holder] == party;
}

/* The lock goes to the first waiter. What the releaser has inherited ends before that runs. */
static unsigned release(struct camkes_group *group, const struct camkes_party *from)
{
    if (!has_awaited(group, from)) {
        return CAMKES_MESSAGE_OPERATION;
    }
    const struct camkes_party *next = hand_over(group, from);
    apply(group);
    wake(next->reply);
    return CAMKES_MESSAGE_GOOD;
}

/* -- conditions -- */

/* Gives up the lock of a monitor, unless others wait for it: then it is to be handed over. */
static unsigned leave(struct camkes_group *group, const struct camkes_sleeper *sleeper)
{
    seL4_Word result = 0;
    if (sleeper->now == CAMKES_NO_PARTY) {
        return CAMKES_MESSAGE_OPERATION;
    }
    const struct camkes_party *party = &group->party[sleeper->now];
    if (is_awaited(group, party->lock)) {
        return has_awaited(group, party) ? CAMKES_MESSAGE_GOOD : CAMKES_MESSAGE_OPERATION;
    }
    return ask_member(party, camkes_operation_label(CAMKES_FREE_LOCK, 0, 0), &result);
}

static unsigned wait_for(struct camkes_group *group, struct camkes_sleeper *sleeper, uint16_t index)
{
    struct camkes_lender *condition = &group->condition[sleeper->condition];
    const struct camkes_party *next = NULL;
    if (sleeper->waiting || index >= sleeper->parties) {
        return CAMKES_MESSAGE_OPERATION;
    }
    if (condition->signals > 0) {
        condition->signals--;
        return CAMKES_MESSAGE_GOOD;
    }
    sleeper->now = sleeper->party;
    if (sleeper->party != CAMKES_NO_PARTY) {
        sleeper->now = (uint16_t)(sleeper->party + index);
        sleeper->origin = group->party[sleeper->now].context;
    }
    if (condition->in_monitor) {
        const unsigned error = leave(group, sleeper);
        if (error != CAMKES_MESSAGE_GOOD) {
            return error;
        }
    }
    save_caller(condition->in_monitor ? &group->party[sleeper->now].reply : &sleeper->reply,
                condition->name);
    sleeper->waiting = true;
    sleeper->arrival = group->arrivals++;
    CAMKES_TRACE_ABOUT(COND_WAIT, sleeper->thread, condition->id, sleeper->origin,
                       lends(group, sleeper));
    if (condition->in_monitor && is_awaited(group, group->party[sleeper->now].lock)) {
        next = hand_over(group, &group->party[sleeper->now]);
    }
    apply(group);
    if (next != NULL) {
        wake(next->reply);
    }
    return REPLY_LATER;
}

/* The most urgent that waits for a condition, of equals the first; NULL: none. */
static struct camkes_sleeper *first_sleeper(struct camkes_group *group, uint16_t condition)
{
    struct camkes_sleeper *first = NULL;
    for (unsigned i = 0; i < group->sleepers; i++) {
        struct camkes_sleeper *sleeper = &group->sleeper[i];
        if (sleeper->waiting && sleeper->condition == condition &&
            (first == NULL || before(lends(group, sleeper), sleeper->arrival, lends(group, first),
                                     first->arrival))) {
            first = sleeper;
        }
    }
    return first;
}

/* A thread that waited in a monitor needs the lock. Returns whether it was free: now the party has
 * it. */
static bool takes_lock(struct camkes_group *group, struct camkes_party *party)
{
    const seL4_Word holder = order(party, CAMKES_TAKE_LOCK, 0, 0);
    if (holder != 0) {
        queue_up(group, party, holder);
    }
    return holder == 0;
}

/*
 * Ends the first wait, if there is one. What was lent is taken back before: a helper that is no
 * more urgent than the waiter then does not run on.
 */
static bool signal_one(struct camkes_group *group, uint16_t condition)
{
    struct camkes_sleeper *first = first_sleeper(group, condition);
    if (first == NULL) {
        return false;
    }
    struct camkes_party *monitor =
        group->condition[condition].in_monitor ? &group->party[first->now] : NULL;
    first->waiting = false;
    const bool goes_on = monitor == NULL || takes_lock(group, monitor);
    apply(group);
    CAMKES_TRACE_ABOUT(COND_WAKE, first->thread, group->condition[condition].id, first->origin);
    if (goes_on) {
        wake(monitor != NULL ? monitor->reply : first->reply);
    }
    return true;
}

static unsigned post(struct camkes_group *group, uint16_t condition)
{
    if (!signal_one(group, condition) && !group->condition[condition].in_monitor) {
        group->condition[condition].signals++;
    }
    return CAMKES_MESSAGE_GOOD;
}

static unsigned post_all(struct camkes_group *group, uint16_t condition)
{
    while (signal_one(group, condition)) {
    }
    return CAMKES_MESSAGE_GOOD;
}

/* -- messages -- */

static unsigned step_of_party(struct camkes_group *group, struct camkes_party *party,
                              seL4_Word label)
{
    seL4_Word result = 0;
    switch (camkes_bits(label, 0, 4)) {
    case CAMKES_ACQUIRE_LOCK:
        return acquire(group, party);
    case CAMKES_RELEASE_LOCK:
        return release(group, party);
    case CAMKES_BEGIN_REQUEST:
    case CAMKES_END_REQUEST:
        return party->lock == CAMKES_NO_PARTY || party->waiting ? CAMKES_MESSAGE_OPERATION
                                                                : ask_member(party, label, &result);
    case CAMKES_SETTLE:
        return CAMKES_MESSAGE_GOOD; /* what was being passed on has been set by now */
    default:
        return CAMKES_MESSAGE_OPERATION;
    }
}

/* From a requesting party: it has a priority to pass on, or the request has ended. */
static unsigned step_of_caller(struct camkes_group *group, struct camkes_party *party,
                               seL4_Word label)
{
    const seL4_Word operation = camkes_bits(label, 0, 4);
    if (operation != CAMKES_UPDATE && (operation != CAMKES_CLEAR || party->waiting)) {
        return CAMKES_MESSAGE_OPERATION;
    }
    party->linked = operation == CAMKES_UPDATE;
    apply(group);
    return CAMKES_MESSAGE_GOOD;
}

static unsigned step(struct camkes_group *group, seL4_Word badge, seL4_Word label)
{
    const seL4_Word parties = group->parties;
    if (badge == 0 || badge > 2 * parties + group->sleepers) {
        return CAMKES_MESSAGE_BADGE;
    }
    if (badge <= parties) {
        return step_of_party(group, &group->party[badge - 1], label);
    }
    if (badge <= 2 * parties) {
        return step_of_caller(group, &group->party[badge - parties - 1], label);
    }
    struct camkes_sleeper *sleeper = &group->sleeper[badge - 2 * parties - 1];
    switch (camkes_bits(label, 0, 4)) {
    case CAMKES_WAIT:
        return wait_for(group, sleeper, (uint16_t)camkes_bits(label, 12, CAMKES_LABEL_DETAIL_BITS));
    case CAMKES_POST:
        return post(group, sleeper->condition);
    case CAMKES_POST_ALL:
        return post_all(group, sleeper->condition);
    default:
        return CAMKES_MESSAGE_OPERATION;
    }
}

void camkes_manage_group(struct camkes_thread *self)
{
    struct camkes_group *group = self->interface;
    seL4_Word badge = 0;
    compute(group);
    seL4_MessageInfo_t info = camkes_platform_receive(group->manager, &badge);
    for (;;) {
        const unsigned error = step(group, badge, seL4_MessageInfo_get_label(info));
        camkes_point();
        info = error == REPLY_LATER
                   ? camkes_platform_receive(group->manager, &badge)
                   : camkes_platform_reply_receive(group->manager,
                                                   seL4_MessageInfo_new(error, 0, 0, 0), &badge);
    }
}
