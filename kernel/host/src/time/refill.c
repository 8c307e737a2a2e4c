/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * The refills of a scheduling context, with the rules of seL4's sporadic servers.
 *
 * The first refill is what is used now, or next. What is used of it comes back one period after the
 * refill's time, at the end of the list. The amounts always add up to the budget. The times are in
 * order, and each refill ends (its time and its amount) before the next one begins.
 */
#include "time/refill.h"

#include <string.h>

static struct refill *last(const struct context *context)
{
    return &context->refills[context->count - 1];
}

/* What is behind the end of the list is 0: states that are the same do not differ in it. */
static void remove_first(struct context *context)
{
    context->count--;
    memmove(context->refills, context->refills + 1, context->count * sizeof *context->refills);
    context->refills[context->count] = (struct refill){0};
}

static void append(struct context *context, struct refill refill)
{
    context->refills[context->count++] = refill;
}

static void set(struct context *context, unsigned most, uint64_t budget, uint64_t period)
{
    context->most = most;
    context->budget = budget;
    context->period = period;
}

static void truncate(struct context *context)
{
    while (context->count > 1) {
        context->count--;
        context->refills[context->count] = (struct refill){0};
    }
}

/* The whole budget can be used from now on. */
void refill_new(struct context *context, unsigned most, uint64_t budget, uint64_t period,
                uint64_t now)
{
    truncate(context);
    set(context, most, budget, period);
    context->count = 1;
    context->refills[0] = (struct refill){now, budget};
}

/* The same while a thread uses the context: no more than the budget in any period, so what the
 * first refill does not have comes a period later. */
void refill_update(struct context *context, unsigned most, uint64_t budget, uint64_t period,
                   uint64_t now)
{
    struct refill *first = &context->refills[0];
    truncate(context);
    set(context, most, budget, period);
    if (refill_ready(context, now)) {
        first->time = now;
    }
    if (first->amount >= budget) {
        first->amount = budget;
    } else {
        append(context, (struct refill){first->time + period, budget - first->amount});
    }
}

bool refill_ready(const struct context *context, uint64_t now)
{
    return context->most > 0 && (context->period == 0 || context->refills[0].time <= now);
}

/* Joined with the last one if they touch, or if the list is full; then that is not before the later
 * of the two. */
static void give_back(struct context *context, struct refill refill)
{
    struct refill *tail = last(context);
    if (tail->time + tail->amount >= refill.time) {
        tail->amount += refill.amount;
    } else if (context->count < context->most) {
        append(context, refill);
    } else {
        tail->time = refill.time - tail->amount;
        tail->amount += refill.amount;
    }
}

static void charge_first(struct context *context)
{
    struct refill used = context->refills[0];
    used.time += context->period;
    if (context->count == 1) {
        context->refills[0] = used;
    } else {
        remove_first(context);
        give_back(context, used);
    }
}

/* A first refill with less than `least`, which is at least 1, becomes part of the next one. */
void refill_charge(struct context *context, uint64_t used, uint64_t least)
{
    struct refill *first = &context->refills[0];
    if (context->period == 0) {
        first->amount = first->amount - used < least ? context->budget : first->amount - used;
        return;
    }
    while (used >= first->amount) {
        used -= first->amount;
        charge_first(context);
    }
    if (used > 0) {
        const struct refill part = {first->time + context->period, used};
        first->amount -= used;
        first->time += used;
        give_back(context, part);
    }
    while (first->amount < least && context->count > 1) {
        const uint64_t rest = first->amount;
        remove_first(context);
        first->amount += rest;
        first->time -= rest;
    }
}

/* The context begins to be used again: what it could have used before, it can use from now on. */
void refill_unblock(struct context *context, uint64_t now)
{
    struct refill *first = &context->refills[0];
    if (context->period == 0 || !refill_ready(context, now)) {
        return;
    }
    first->time = now;
    while (context->count > 1 && context->refills[1].time <= first->time + first->amount) {
        const struct refill old = *first;
        remove_first(context);
        first->time = old.time;
        first->amount += old.amount;
    }
}
