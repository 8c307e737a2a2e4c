/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The scheduler of a band: the only thread that decides the priorities of its tasks. */
#include "../core/managers.h"

#include <camkes/instance.h>
#include <camkes/label.h>
#include <camkes/scheduler.h>
#include <camkes/timer_protocol_sel4.h>

static void set_priority(struct camkes_band_task *member, uint8_t priority)
{
    if (priority != member->priority) {
        member->priority = priority;
        CAMKES_TRACE(TURN, member->context, priority, member->due);
        camkes_ask_manager(member->manager,
                           camkes_member_label(CAMKES_SET_PRIORITY, priority, member->context),
                           member->name);
    }
}

static bool precedes(const struct camkes_band_task *x, const struct camkes_band_task *y)
{
    return x->due != y->due ? x->due < y->due : (int32_t)(x->arrival - y->arrival) < 0;
}

/* The active member that comes next after one, or first (NULL); NULL: there is none. */
static struct camkes_band_task *next_member(const struct camkes_band *band,
                                            const struct camkes_band_task *after)
{
    struct camkes_band_task *next = NULL;
    /* at most tasks times: each once */
    for (uint16_t i = 0; i < band->members; i++) {
        struct camkes_band_task *member = &band->member[i];
        if (member->active && (after == NULL || precedes(after, member)) &&
            (next == NULL || precedes(member, next))) {
            next = member;
        }
    }
    return next;
}

static unsigned count_active(const struct camkes_band *band)
{
    unsigned count = 0;
    /* at most tasks times: each once */
    for (uint16_t i = 0; i < band->members; i++) {
        count += band->member[i].active;
    }
    return count;
}

/*
 * Gives each active member its priority, the highest first. With deadlines, one whose job is under
 * way rises only, as it is the last to end, of those before it; if it has waited for something
 * else meanwhile, it may also fall, and a request that it makes keeps the higher priority.
 */
static void order(struct camkes_band *band)
{
    uint8_t priority = (uint8_t)(band->lowest + count_active(band));
    struct camkes_band_task *member = NULL;
    /* at most tasks times: each once */
    while ((member = next_member(band, member)) != NULL) {
        set_priority(member, --priority);
    }
}

/* Nanoseconds that a member has executed since this was asked last. */
static uint64_t consumed(const struct camkes_band_task *member)
{
#if defined(CONFIG_KERNEL_MCS)
    return camkes_consumed(member->time) * 1000;
#else
    (void)member; /* the tool rejects it */
    return 0;     /* not covered: the tool rejects slices for such a kernel */
#endif
}

/* What active members have executed is counted by their weights. */
static void charge(struct camkes_band *band)
{
    /* at most tasks times: each once */
    for (uint16_t i = 0; i < band->members; i++) {
        struct camkes_band_task *member = &band->member[i];
        if (member->active) {
            member->due += consumed(member) / member->weight;
        }
    }
}

static void begin_slice(const struct camkes_band *band)
{
    const uint64_t end = count_active(band) > 1 ? camkes_platform_now() + band->slice : 0;
    camkes_platform_timer_arm(band->timer, end, 0);
}

static void begin_job(struct camkes_band *band, struct camkes_band_task *member)
{
    if (band->slice != 0) {
        /* a member that becomes active has no claim to time in which it was not */
        const struct camkes_band_task *first = next_member(band, NULL);
        (void)consumed(member);
        member->due = first != NULL && first->due > member->due ? first->due : member->due;
    } else {
        member->due = camkes_timer_message_time(0);
    }
    member->arrival = band->arrivals++;
    member->active = true;
}

/* From a task: a job begins or ends. */
static unsigned step_of_member(struct camkes_band *band, struct camkes_band_task *member,
                               seL4_Word label)
{
    enum camkes_job_operation operation;
    if (!camkes_job_read(label, &operation) || label != operation ||
        member->active == (operation == CAMKES_JOB_BEGINS)) {
        return CAMKES_MESSAGE_OPERATION;
    }
    if (band->slice != 0) {
        charge(band);
    }
    /* not covered: each operation has a case */
    switch (operation) {
    case CAMKES_JOB_BEGINS:
        begin_job(band, member);
        break;
    case CAMKES_JOB_ENDS:
        member->active = false;
        set_priority(member, band->highest);
        break;
    }
    if (band->slice != 0) {
        begin_slice(band);
    }
    if (band->slice != 0 || operation == CAMKES_JOB_BEGINS) {
        order(band);
    }
    return CAMKES_MESSAGE_GOOD;
}

/* From the thread that waits for the timer: a time slice ends. */
static unsigned step_of_timer(struct camkes_band *band)
{
    CAMKES_ASSERT(band->timer != 0);
    charge(band);
    begin_slice(band);
    order(band);
    return CAMKES_MESSAGE_GOOD;
}

static unsigned step(struct camkes_band *band, seL4_Word badge, seL4_Word label)
{
    if (badge - 1 < band->members) {
        return step_of_member(band, &band->member[badge - 1], label);
    }
    return band->slice != 0 ? step_of_timer(band) : CAMKES_MESSAGE_BADGE;
}

void camkes_schedule(struct camkes_thread *self)
{
    struct camkes_band *band = self->interface;
    seL4_Word badge = 0;
    camkes_start_interface(self->instance, NULL);
    seL4_MessageInfo_t info = camkes_platform_receive(band->endpoint, &badge);
    for (;;) {
        const unsigned error = step(band, badge, seL4_MessageInfo_get_label(info));
        info = camkes_platform_reply_receive(band->endpoint,
                                             error == CAMKES_MESSAGE_GOOD
                                                 ? seL4_MessageInfo_new(0, 0, 0, 0)
                                                 : camkes_refuse_order(self, badge, error),
                                             &badge);
    }
}
