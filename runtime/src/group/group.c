/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * The manager of a group: conditions, tasks and CPIs among which priorities can be lent. It has all
 * queues of the group, computes all effective priorities from their definition whenever a wait
 * begins or ends, and has those that differ set by the managers of the tasks and CPIs. These send
 * no messages to each other, so that a cycle of lending causes no deadlock, and no priority remains
 * that was passed around one.
 */
#include "../core/fatal.h"
#include "lending.h"
#include "../core/nested.h"
#include "../time/overrun.h"

#include <camkes/label.h>
#include <camkes/timer_protocol_sel4.h>

#define REPLY_LATER 256u /* above all errors */
#define ANY 0xffff

/* Whether a waiter of one priority and arrival comes before another. */
static bool before(uint8_t priority, uint32_t arrival, uint8_t other, uint32_t other_arrival)
{
    return priority != other ? priority > other
                             : (int32_t)(arrival - other_arrival) < 0; /* arrivals wrap around */
}

static void wake(seL4_CPtr reply, bool time_over)
{
    seL4_Send(reply,
              seL4_MessageInfo_new(time_over ? CAMKES_TIME_OVER : CAMKES_MESSAGE_GOOD, 0, 0, 0));
    camkes_point();
}

/* It waited for a lock, which it has now. */
static void wake_member(struct camkes_member *member)
{
    const bool time_over = member->time_over;
    member->time_over = false;
    wake(member->reply, time_over);
    if (member->owed) {
        member->owed = false;
        (void)camkes_order_member(member, CAMKES_GRANTED, 0, 0);
    }
}

/* -- locks -- */

/* A member waits for a lock that another one of the same lock has. */
static void queue_up(struct camkes_group *group, struct camkes_member *member, seL4_Word holder)
{
    CAMKES_ASSERT(member->lock + holder <= group->members);
    group->member[member->lock].holder = (uint16_t)(member->lock + holder - 1);
    member->waiting = true;
    member->arrival = group->arrivals++;
}

static unsigned acquire(struct camkes_group *group, struct camkes_member *member)
{
    seL4_Word holder = 0;
    if (member->lock == CAMKES_NO_MEMBER || member->waiting) {
        return CAMKES_MESSAGE_OPERATION;
    }
    const unsigned error = camkes_ask_member(member, CAMKES_TAKE_LOCK, 0, 0, &holder);
    if (error != CAMKES_MESSAGE_GOOD || holder == 0) {
        return error;
    }
    camkes_keep_reply(&member->reply, &member->name);
    queue_up(group, member, holder);
    camkes_apply_lending(group);
    return REPLY_LATER;
}

static bool is_awaited(const struct camkes_group *group, uint16_t lock)
{
    /* at most members times: each once */
    for (unsigned i = 0; i < group->members; i++) {
        if (group->member[i].waiting && group->member[i].lock == lock) {
            return true;
        }
    }
    return false;
}

/*
 * Gives a lock to the first that waits for it, which does not run yet. What waits for the lock no
 * longer counts for its holder, and what is lent is set before the first waiter is chosen.
 */
static struct camkes_member *hand_over(struct camkes_group *group, const struct camkes_member *from)
{
    struct camkes_member *next = NULL;
    unsigned waiting = 0;
    group->member[from->lock].holder = CAMKES_NO_MEMBER;
    camkes_apply_lending(group);
    /* at most members times: each once */
    for (unsigned i = 0; i < group->members; i++) {
        struct camkes_member *member = &group->member[i];
        if (member->waiting && member->lock == from->lock) {
            waiting++;
            if (next == NULL ||
                before(member->effective, member->arrival, next->effective, next->arrival)) {
                next = member;
            }
        }
    }
    CAMKES_ASSERT(next != NULL); /* others wait for it */
    next->waiting = false;
    group->member[next->lock].holder = (uint16_t)(next - group->member);
    next->owed = camkes_order_member(next, CAMKES_GIVE_LOCK, waiting > 1, from->context) != 0;
    return next;
}

static bool has_awaited(const struct camkes_group *group, const struct camkes_member *member)
{
    CAMKES_ASSERT(!is_awaited(group, member->lock) ||
                  group->member[member->lock].holder != CAMKES_NO_MEMBER);
    return is_awaited(group, member->lock) &&
           &group->member[group->member[member->lock].holder] == member;
}

/* The lock goes to the first waiter. What the releaser has inherited ends before that runs. */
static unsigned release(struct camkes_group *group, const struct camkes_member *from)
{
    if (!has_awaited(group, from)) {
        return CAMKES_MESSAGE_OPERATION;
    }
    wake_member(hand_over(group, from));
    return CAMKES_MESSAGE_GOOD;
}

/* -- conditions -- */

/* Has the timer fire when the time of the first that waits is over. */
static void set_timer(struct camkes_group *group)
{
    uint64_t first = 0;
    /* at most waiters times: each once */
    for (unsigned i = 0; i < group->waiters; i++) {
        const struct camkes_waiter *waiter = &group->waiter[i];
        if (waiter->waiting && waiter->until != 0 && (first == 0 || waiter->until < first)) {
            first = waiter->until;
        }
    }
    if (first != group->armed) {
        group->armed = first;
        camkes_platform_timer_arm(group->timer, first, 0);
    }
}

/* Gives up the lock of a monitor, unless others wait for it: then it is to be handed over. */
static unsigned leave(struct camkes_group *group, const struct camkes_waiter *waiter)
{
    seL4_Word result = 0;
    if (waiter->now == CAMKES_NO_MEMBER) {
        return CAMKES_MESSAGE_OPERATION;
    }
    const struct camkes_member *member = &group->member[waiter->now];
    if (is_awaited(group, member->lock)) {
        return has_awaited(group, member) ? CAMKES_MESSAGE_GOOD : CAMKES_MESSAGE_OPERATION;
    }
    return camkes_ask_member(member, CAMKES_FREE_LOCK, 0, 0, &result);
}

static unsigned wait_for(struct camkes_group *group, struct camkes_waiter *waiter, uint16_t index,
                         uint64_t until)
{
    struct camkes_lender *condition = &group->condition[waiter->condition];
    struct camkes_member *next = NULL;
    if (waiter->waiting || index >= waiter->members) {
        return CAMKES_MESSAGE_OPERATION;
    }
    if (condition->signals > 0) {
        condition->signals--;
        return CAMKES_MESSAGE_GOOD;
    }
    if (until != 0 && until <= camkes_platform_now()) {
        return CAMKES_TIME_OVER;
    }
    waiter->now = waiter->member;
    if (waiter->member != CAMKES_NO_MEMBER) {
        waiter->now = (uint16_t)(waiter->member + index);
        waiter->origin = group->member[waiter->now].context;
    }
    if (condition->in_monitor) {
        const unsigned error = leave(group, waiter);
        if (error != CAMKES_MESSAGE_GOOD) {
            return error;
        }
    }
    camkes_keep_reply(condition->in_monitor ? &group->member[waiter->now].reply : &waiter->reply,
                      &condition->name);
    waiter->waiting = true;
    waiter->arrival = group->arrivals++;
    waiter->until = until;
    set_timer(group); /* before a helper that gets the priority of this thread can run */
    CAMKES_TRACE_ABOUT(COND_WAIT, waiter->thread, condition->id, waiter->origin,
                       camkes_lends(group, waiter));
    if (condition->in_monitor && is_awaited(group, group->member[waiter->now].lock)) {
        next = hand_over(group, &group->member[waiter->now]);
    }
    camkes_apply_lending(group);
    if (next != NULL) {
        wake_member(next);
    }
    return REPLY_LATER;
}

static bool is_over(const struct camkes_waiter *waiter, uint64_t now)
{
    return waiter->until != 0 && waiter->until <= now;
}

/*
 * The most urgent that waits for a condition, or with ANY of those whose time is over at `now`; of
 * equals the first; NULL: none.
 */
static struct camkes_waiter *first_waiter(struct camkes_group *group, unsigned condition,
                                          uint64_t now)
{
    struct camkes_waiter *first = NULL;
    /* at most waiters times: each once */
    for (unsigned i = 0; i < group->waiters; i++) {
        struct camkes_waiter *waiter = &group->waiter[i];
        if (waiter->waiting &&
            (condition == ANY ? is_over(waiter, now) : waiter->condition == condition) &&
            (first == NULL || before(camkes_lends(group, waiter), waiter->arrival,
                                     camkes_lends(group, first), first->arrival))) {
            first = waiter;
        }
    }
    return first;
}

/* A thread that waited in a monitor needs the lock. Returns whether it was free: now the member has
 * it. */
static bool takes_lock(struct camkes_group *group, struct camkes_member *member)
{
    const seL4_Word holder = camkes_order_member(member, CAMKES_TAKE_LOCK, 0, 0);
    if (holder != 0) {
        queue_up(group, member, holder);
    }
    return holder == 0;
}

/*
 * Ends a wait. What was lent is taken back before: a helper that is no more urgent than the waiter
 * then does not run on.
 */
static void end_wait(struct camkes_group *group, struct camkes_waiter *first, bool time_over)
{
    const struct camkes_lender *condition = &group->condition[first->condition];
    struct camkes_member *monitor = condition->in_monitor ? &group->member[first->now] : NULL;
    first->waiting = false;
    set_timer(group);
    if (monitor != NULL) {
        monitor->time_over = time_over;
    }
    const bool goes_on = monitor == NULL || takes_lock(group, monitor);
    camkes_apply_lending(group);
    if (time_over) {
        CAMKES_TRACE_ABOUT(COND_EXPIRE, first->thread, condition->id, first->origin);
    } else {
        CAMKES_TRACE_ABOUT(COND_WAKE, first->thread, condition->id, first->origin);
    }
    if (goes_on && monitor != NULL) {
        wake_member(monitor);
    } else if (goes_on) {
        wake(first->reply, time_over);
    }
}

/* Ends the first wait, if there is one. */
static __attribute__((noinline)) bool signal_one(struct camkes_group *group, uint16_t condition)
{
    struct camkes_waiter *first = first_waiter(group, condition, 0);
    if (first != NULL) {
        end_wait(group, first, false);
    }
    return first != NULL;
}

static unsigned post(struct camkes_group *group, uint16_t index)
{
    struct camkes_lender *condition = &group->condition[index];
    const bool taken = condition->signals < 0;
    if ((taken || !signal_one(group, index)) && !condition->in_monitor) {
        condition->signals++;
    }
    return CAMKES_MESSAGE_GOOD;
}

static unsigned post_all(struct camkes_group *group, uint16_t condition)
{
    /* at most waiters times: each waits once */
    while (signal_one(group, condition)) {
    }
    return CAMKES_MESSAGE_GOOD;
}

/* -- time -- */

/* The timer has fired, unless it was set anew since. Times of others can be over by now, too; in a
 * search timers fire before their times. */
static unsigned end_waits(struct camkes_group *group)
{
    struct camkes_waiter *waiter = NULL;
    const uint64_t clock = camkes_platform_now();
    const uint64_t now = clock > group->armed ? clock : group->armed;
    if (camkes_platform_timer_expirations(group->timer) != 0) {
        /* at most waiters times: each waits once */
        while ((waiter = first_waiter(group, ANY, now)) != NULL) {
            end_wait(group, waiter, true);
        }
    }
    return CAMKES_MESSAGE_GOOD;
}

/* -- messages -- */

/* A thread of a pool begins or ends a request: the manager of the CPI has its threads. */
static unsigned pass_to_member(const struct camkes_member *member,
                               enum camkes_member_operation operation, seL4_Word label)
{
    seL4_Word result = 0;
    return member->lock == CAMKES_NO_MEMBER || member->waiting
               ? CAMKES_MESSAGE_OPERATION
               : camkes_ask_member(member, operation, 0, camkes_label_detail(label), &result);
}

static unsigned step_of_member(struct camkes_group *group, struct camkes_member *member,
                               seL4_Word label)
{
    enum camkes_worker_operation operation;
    if (!camkes_worker_read(label, &operation)) {
        return CAMKES_MESSAGE_OPERATION;
    }
    /* not covered: each operation has a case */
    switch (operation) {
    case CAMKES_ACQUIRE_LOCK:
        return acquire(group, member);
    case CAMKES_RELEASE_LOCK:
        return release(group, member);
    case CAMKES_BEGIN_REQUEST:
        return pass_to_member(member, CAMKES_MEMBER_BEGIN, label);
    case CAMKES_END_REQUEST:
        return pass_to_member(member, CAMKES_MEMBER_END, label);
    case CAMKES_SETTLE:
        return CAMKES_MESSAGE_GOOD; /* what was being passed on has been set by now */
    case CAMKES_TELL:
        return CAMKES_MESSAGE_OPERATION; /* of all that wait it is the group that knows */
    }
    CAMKES_UNREACHABLE();
}

/* Whether a member serves a request. One that was aborted may end late, when its caller already
 * makes another one. */
static bool is_requested(const struct camkes_group *group, const struct camkes_member *member)
{
    /* at most paths times: each once */
    for (unsigned i = 0; i < group->paths; i++) {
        const struct camkes_path *path = &group->path[i];
        if (&group->member[path->to] == member &&
            camkes_order_member(&group->member[path->from], CAMKES_FIND_NESTED, 0, 0) ==
                path->slot) {
            return true;
        }
    }
    return false;
}

/* The priority of a task in a band is known to its scheduler. When its request begins, and when it
 * rises, it is in the message; a request that comes from a member has the priority of that one. */
static unsigned set_request(const struct camkes_group *group, struct camkes_member *member,
                            bool raised, uint8_t priority)
{
    if (!raised) {
        member->request = 0;
    } else if (priority > member->request && !is_requested(group, member)) {
        if (priority > member->highest) {
            return CAMKES_MESSAGE_PRIORITY;
        }
        member->request = priority;
    }
    return CAMKES_MESSAGE_GOOD;
}

/* From a requesting member: it has a priority to pass on, or the request has ended. */
static unsigned step_of_caller(struct camkes_group *group, struct camkes_member *member,
                               seL4_Word label)
{
    enum camkes_caller_operation operation;
    if (!camkes_caller_read(label, &operation)) {
        return CAMKES_MESSAGE_OPERATION;
    }
    const bool raised = operation != CAMKES_CLEAR; /* what it falls to is computed, too */
    const bool aborted = !raised && camkes_label_detail(label) != 0;
    if (!raised && !aborted && member->waiting) {
        return CAMKES_MESSAGE_OPERATION;
    }
    const unsigned error = member->highest == 0
                               ? CAMKES_MESSAGE_GOOD
                               : set_request(group, member, raised, camkes_label_priority(label));
    if (error != CAMKES_MESSAGE_GOOD) {
        return error;
    }
    member->linked = raised || (aborted && is_requested(group, member));
    camkes_apply_lending(group);
    return CAMKES_MESSAGE_GOOD;
}

static unsigned step_of_waiter(struct camkes_group *group, struct camkes_waiter *waiter,
                               seL4_Word label)
{
    const uint16_t index = camkes_label_detail(label);
    const uint64_t time = camkes_timer_message_time(0);
    enum camkes_waiter_operation operation;
    if (!camkes_waiter_read(label, &operation)) {
        return CAMKES_MESSAGE_OPERATION;
    }
    /* not covered: each operation has a case */
    switch (operation) {
    case CAMKES_WAIT:
        return wait_for(group, waiter, index, 0);
    case CAMKES_WAIT_UNTIL:
        return group->timer != 0 ? wait_for(group, waiter, index, time != 0 ? time : 1)
                                 : CAMKES_MESSAGE_OPERATION;
    case CAMKES_SIGNAL_TAKEN:
        group->condition[waiter->condition].signals--;
        return CAMKES_MESSAGE_GOOD;
    case CAMKES_POST:
        return post(group, waiter->condition);
    case CAMKES_POST_ALL:
        return post_all(group, waiter->condition);
    }
    CAMKES_UNREACHABLE();
}

/* The base priority of a context changes with the criticality of the system. */
static unsigned rebase(struct camkes_group *group, seL4_Word context, uint8_t base)
{
    /* at most members times: each once */
    for (unsigned i = 0; i < group->members; i++) {
        if (group->member[i].context == context) {
            group->member[i].base = base;
        }
    }
    /* at most waiters times: each once */
    for (unsigned i = 0; i < group->waiters; i++) {
        if (group->waiter[i].origin == context) {
            group->waiter[i].priority = base;
        }
    }
    camkes_apply_lending(group);
    return CAMKES_MESSAGE_GOOD;
}

/* From the time manager, about the context of an id. */
static unsigned step_of_time(struct camkes_group *group, seL4_Word context, seL4_Word label)
{
    enum camkes_time_operation operation;
    if (!camkes_time_read(label, &operation)) {
        return CAMKES_MESSAGE_OPERATION;
    }
    /* not covered: each operation has a case */
    switch (operation) {
    case CAMKES_SET_BASE:
        return rebase(group, context, camkes_label_priority(label));
    }
    CAMKES_UNREACHABLE();
}

static unsigned step(struct camkes_group *group, seL4_Word badge, seL4_Word label)
{
    const seL4_Word members = group->members, last = 2 * members + group->waiters;
    if (CAMKES_MCS && badge == CAMKES_BADGE_TIME_MANAGER) {
        return step_of_time(group, seL4_GetMR(0), label);
    }
    if (badge == 0 || badge > last + (group->timer != 0)) {
        return CAMKES_MESSAGE_BADGE;
    }
    if (badge <= members) {
        return step_of_member(group, &group->member[badge - 1], label);
    }
    if (badge <= 2 * members) {
        return step_of_caller(group, &group->member[badge - members - 1], label);
    }
    return badge > last ? end_waits(group)
                        : step_of_waiter(group, &group->waiter[badge - 2 * members - 1], label);
}

void camkes_manage_group(struct camkes_thread *self)
{
    struct camkes_group *group = self->interface;
    seL4_Word badge = 0;
    camkes_compute_lending(group);
    seL4_MessageInfo_t info = camkes_platform_receive(group->manager, &badge);
    for (;;) {
        const unsigned error = step(group, badge, seL4_MessageInfo_get_label(info));
        if (error == REPLY_LATER) {
            info = camkes_platform_receive(group->manager, &badge);
            continue;
        }
        const bool good = error == CAMKES_MESSAGE_GOOD || error == CAMKES_TIME_OVER;
        info = camkes_platform_reply_receive(group->manager,
                                             good ? seL4_MessageInfo_new(error, 0, 0, 0)
                                                  : camkes_refuse_order(self, badge, error),
                                             &badge);
    }
}
