/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Timers: a heap of the armed ones, ordered by when they fire, then by name, so that the order in
 * which a system declares its components has no influence on a run.
 */
#include "isolation/memory.h"
#include "objects/operations.h"
#include "record/output.h"
#include "scheduling/scheduling.h"
#include "state.h"

#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b)
{
    return strcmp((*(struct object *const *)a)->name, (*(struct object *const *)b)->name);
}

/* When the objects are known, and no timer is armed. */
void timer_initialise(void)
{
    unsigned count = 0;
    for (unsigned i = 0; i < kernel->object_count; i++) {
        count += kernel->objects[i].kind == OBJECT_TIMER;
    }
    const size_t size = count * sizeof(struct object *);
    struct object **timers = memory_take(size);
    unsigned found = 0;
    for (unsigned i = 0; i < kernel->object_count; i++) {
        if (kernel->objects[i].kind == OBJECT_TIMER) {
            timers[found++] = &kernel->objects[i];
        }
    }
    qsort(timers, count, sizeof *timers, by_name);
    for (unsigned i = 0; i < count; i++) {
        timers[i]->timer.rank = i;
    }
    memset(timers, 0, size);
    kernel->heap = timers;
}

static bool before(const struct object *a, const struct object *b)
{
    if (a->timer.due != b->timer.due) {
        return a->timer.due < b->timer.due;
    }
    return a->timer.rank < b->timer.rank;
}

static void put(struct object *object, unsigned place)
{
    kernel->heap[place] = object;
    object->timer.place = place;
}

static void move_up(struct object *object, unsigned place)
{
    while (place > 0 && before(object, kernel->heap[(place - 1) / 2])) {
        put(kernel->heap[(place - 1) / 2], place);
        place = (place - 1) / 2;
    }
    put(object, place);
}

static void move_down(struct object *object, unsigned place)
{
    for (;;) {
        unsigned child = 2 * place + 1;
        if (child + 1 < kernel->heap_size && before(kernel->heap[child + 1], kernel->heap[child])) {
            child++;
        }
        if (child >= kernel->heap_size || before(object, kernel->heap[child])) {
            break;
        }
        put(kernel->heap[child], place);
        place = child;
    }
    put(object, place);
}

static void insert(struct object *object)
{
    object->timer.armed = true;
    move_up(object, kernel->heap_size++);
}

static void take_out(struct object *object)
{
    if (!object->timer.armed) {
        return;
    }
    object->timer.armed = false;
    struct object *last = kernel->heap[--kernel->heap_size];
    if (last != object) {
        unsigned place = object->timer.place;
        move_down(last, place);
        move_up(last, last->timer.place);
    }
}

uint64_t timer_next(void)
{
    if (kernel->options.arrivals) {
        return UINT64_MAX; /* by choice only, see arrivals.c */
    }
    return kernel->heap_size ? kernel->heap[0]->timer.due : UINT64_MAX;
}

void timer_arm(struct object *object, uint64_t first, uint64_t period)
{
    take_out(object);
    struct timer *timer = &object->timer;
    timer->expirations = 0;
    timer->due = first;
    timer->period = period;
    timer->delay = 0;
    timer->decided = false;
    if (first || period) {
        insert(object);
    }
}

/* Expires as often as it should have by now, and signals once. */
static void fire(struct object *object)
{
    struct timer *timer = &object->timer;
    take_out(object);
    uint64_t nominal = timer->due - timer->delay;
    uint64_t times = 1;
    if (timer->period) {
        if (kernel->now > nominal) {
            times += (kernel->now - nominal) / timer->period;
        }
        timer->due = nominal + times * timer->period;
        timer->delay = 0;
        timer->decided = false;
        insert(object);
    }
    timer->expirations += times;
    TRACE(TIMER, NULL, NULL, object->number, timer->expirations);
    notification_signal(timer->notification, timer->badge, NULL);
}

/* With --arrivals: it expires once, at some instant after that at which it is due. */
void timer_arrive(struct object *object)
{
    struct timer *timer = &object->timer;
    if (kernel->now < timer->due) {
        kernel->now = timer->due;
    }
    if (timer->period) {
        timer->due += timer->period; /* the heap's order does not matter */
    } else {
        take_out(object);
    }
    timer->fired++;
    timer->expirations++;
    TRACE(TIMER, NULL, NULL, object->number, timer->expirations);
    notification_signal(timer->notification, timer->badge, NULL);
}

/* Whether the timer is made late: then it is due at a later instant. */
static bool delay(struct object *object)
{
    struct timer *timer = &object->timer;
    if (!timer->jitter || timer->decided) {
        return false;
    }
    timer->decided = true;
    if (!choose(CAMKES_CHOICE_JITTER, 2)) {
        return false;
    }
    timer->delay = timer->jitter;
    timer->due += timer->delay;
    move_down(object, timer->place);
    return true;
}

/*
 * Fires all timers that are due, before any thread runs: which of the threads that they wake runs
 * first depends on priorities, and among equals is a choice. False: none was due. What is due at
 * the instant at which the run ends is not part of it.
 */
bool timer_fire_due(void)
{
    bool due = false;
    while (timer_next() <= kernel->now && kernel->now < kernel->options.until) {
        due = true;
        if (!delay(kernel->heap[0])) {
            fire(kernel->heap[0]);
        }
    }
    return due;
}

/* A timer that was made late and could have fired by now. */
static struct object *late(void)
{
    for (unsigned i = 0; i < kernel->heap_size; i++) {
        const struct timer *timer = &kernel->heap[i]->timer;
        if (timer->delay && timer->due - timer->delay <= kernel->now) {
            return kernel->heap[i];
        }
    }
    return NULL;
}

bool timer_can_fire_early(void)
{
    return late();
}

void timer_fire_early(void)
{
    fire(late());
}
