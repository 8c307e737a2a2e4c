/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * With --arrivals N timers do not fire at their times but by choice, each at most N times, but for
 * those of the runtime (INSTANCE.CONDITION!timer), which are set for each wait anew: at any
 * place where the thread that runs enters the kernel or reaches a point of the runtime, whenever
 * threads are switched, and when no thread can run. So a search sees every order of events that any
 * periods, offsets and durations can lead to.
 *
 * A timer that fires has an effect only when the thread that waits for it runs. So it is enough to
 * let it fire where that thread would run at once: where it would not, the timer might as well fire
 * later. (Among equals it might be the first of its queue, so at a switch equals count.)
 *
 * Where it makes no difference whether a timer fires now or at the next point, it does not fire
 * now. Between points a thread does nothing that another one can see, so that is so
 *  - when work begins;
 *  - where a thread is switched to that was not preempted at a point. (Timers of its own priority
 *    count there, since at a point they do not.)
 *  - where a thread is about to wait for what only timers signal: no thread can see that;
 *  - until a thread waits for requests or events for the first time, but for control threads. What
 *    is sent to it before is received then. Of its initialisation, accesses to memory that others
 *    may see are points. Where only such threads are ready they start in one order.
 * With --points all these are points nevertheless.
 *
 * The run begins at an instant at which all of these timers are due, so that no job begins before
 * its release.
 */
#include "objects/operations.h"
#include "record/output.h"
#include "scheduling/scheduling.h"
#include "state.h"

#include <string.h>

enum { MOST_TIMERS = 64 };

static bool is_reduced(void)
{
    return !kernel->options.every_point;
}

static struct object *object_at(struct thread *self, seL4_CPtr slot, enum object_kind kind)
{
    const struct cap *cap = cap_find(self, slot);
    return cap && cap->kind == kind ? cap->object : NULL;
}

/* Whether others may see what a thread is about to do. */
bool arrivals_matter(struct thread *self, enum camkes_kcall operation, seL4_CPtr slot)
{
    const struct object *waits = object_at(self, slot, OBJECT_NOTIFICATION);
    return !(is_reduced() && operation == CAMKES_KCALL_WAIT && waits &&
             waits->notification.of_timers);
}

/* A thread has started when it waits for anything but the start of its instance. */
void arrivals_started(struct thread *self, enum camkes_kcall operation, seL4_CPtr slot)
{
    if (!self->starts || (operation != CAMKES_KCALL_RECV && operation != CAMKES_KCALL_WAIT &&
                          operation != CAMKES_KCALL_NBRECV && operation != CAMKES_KCALL_POLL)) {
        return;
    }
    const struct object *gate = object_at(self, slot, OBJECT_ENDPOINT);
    const char *what = gate ? strrchr(gate->name, ':') : NULL;
    self->starts = what && strcmp(what, ":gate") == 0;
}

/* A capability may be copied later only by a thread that has it. */
static void find_those_of_timers(void)
{
    for (unsigned i = 0; i < kernel->object_count; i++) {
        if (kernel->objects[i].kind == OBJECT_NOTIFICATION) {
            kernel->objects[i].notification.of_timers = true;
        }
    }
    for (unsigned i = 0; i < kernel->space_count; i++) {
        for (seL4_Word slot = 0; slot < kernel->spaces[i].slot_count; slot++) {
            const struct cap *cap = &kernel->spaces[i].slots[slot];
            if (cap->kind == OBJECT_NOTIFICATION && (cap->rights & RIGHT_WRITE)) {
                cap->object->notification.of_timers = false;
            }
        }
    }
}

void arrivals_initialise(void)
{
    if (!kernel->options.arrivals) {
        return;
    }
    find_those_of_timers();
    unsigned timers = 0;
    for (unsigned i = 0; i < kernel->object_count; i++) {
        const struct object *object = &kernel->objects[i];
        timers += object->kind == OBJECT_TIMER;
        if (timers > MOST_TIMERS) {
            give_up(2, "a system has at most %d timers that fire in any order", MOST_TIMERS);
        }
        if (object->kind == OBJECT_TIMER && object->timer.armed) {
            const uint64_t last =
                object->timer.due + (kernel->options.arrivals - 1) * object->timer.period;
            kernel->now = last > kernel->now ? last : kernel->now;
        }
    }
}

static bool may_fire(const struct object *timer)
{
    return timer->timer.fired < kernel->options.arrivals || strchr(timer->name, '!') != NULL;
}

/* The timers that a thread of at least this priority waits for. */
static unsigned find(int least, struct object *found[static MOST_TIMERS])
{
    unsigned count = 0;
    for (unsigned i = 0; i < kernel->heap_size && count < MOST_TIMERS; i++) {
        struct object *object = kernel->heap[i];
        const struct thread *waiter = object->timer.notification->notification.queue.head;
        if (may_fire(object) && waiter && waiter->priority >= least) {
            found[count++] = object;
        }
    }
    /* in the order of the table, whatever that of the heap */
    for (unsigned i = 1; i < count; i++) {
        for (unsigned j = i; j > 0 && found[j - 1]->number > found[j]->number; j--) {
            struct object *other = found[j];
            found[j] = found[j - 1];
            found[j - 1] = other;
        }
    }
    return count;
}

/* `first` runs, not `next`, which is ready; nothing else is decided. */
static void run_before(struct thread *next, struct thread *first)
{
    ready_prepend(next);
    kernel->current = first;
    kernel->candidate = NULL;
    kernel->action = ACTION_RESUME;
}

/*
 * The running thread can be preempted here. Whether it may be: kernel_go() decides then.
 *
 * Under round robin it does not matter which of the threads of one priority has come to its point
 * last, since any of them can be the next: they are all ready, none runs, and one is chosen.
 */
bool arrivals_at_point(struct thread *self)
{
    if (is_reduced() && self->starts && self->access.size == 0) {
        return false;
    }
    if (kernel->options.round_robin && ready_has_equal(self)) {
        ready_prepend(self);
        kernel->current = NULL;
        kernel->action = ACTION_SLICE;
        if (hooks.choose) {
            kernel->shown = NULL; /* so that what is checked at a switch is, whoever is next */
        }
        return true;
    }
    struct object *found[MOST_TIMERS];
    const unsigned count = find(self->priority + 1, found);
    const unsigned chosen = choose(CAMKES_CHOICE_POINT, 1u + count);
    if (chosen > 0) {
        timer_arrive(found[chosen - 1]);
    }
    return chosen > 0;
}

/* The place of the thread that ran last among the ready ones of a priority. */
static unsigned place_of_last(unsigned priority)
{
    unsigned place = 0;
    for (const struct thread *thread = kernel->ready->queues[priority].head; thread != kernel->last;
         thread = thread->next) {
        place++;
    }
    return place;
}

/* After a point with equals: the last thread goes on, or a timer fires, or the last one's time
 * slice ends. Whether it is decided who runs; else a timer has fired. */
bool arrivals_end_slice(void)
{
    const unsigned priority = kernel->last->priority;
    struct object *found[MOST_TIMERS];
    const unsigned count = find((int)priority, found);
    const unsigned last = place_of_last(priority);
    const unsigned chosen = choose(CAMKES_CHOICE_POINT, count + ready_count(priority));
    kernel->action = ACTION_RESUME;
    if (chosen > 0 && chosen <= count) {
        timer_arrive(found[chosen - 1]);
        return false;
    }
    const unsigned other = chosen - count - 1; /* without the last */
    kernel->current = ready_take(priority, chosen == 0 ? last : other + (other >= last));
    return true;
}

/* Those of `found` whose threads have the priority of `next`: they may be the first of their queue.
 */
static unsigned keep_equals(const struct thread *next, struct object *found[static MOST_TIMERS],
                            unsigned count)
{
    unsigned kept = 0;
    for (unsigned i = 0; !next->starts && i < count; i++) {
        const struct thread *waiter = found[i]->timer.notification->notification.queue.head;
        if (waiter->priority == next->priority) {
            found[kept++] = found[i];
        }
    }
    return kept;
}

/* kernel->current is about to run, or no thread is. Whether something happened. */
bool arrivals_at_switch(void)
{
    struct object *found[MOST_TIMERS];
    const struct thread *next = kernel->current;
    unsigned count = find(next ? next->priority : 0, found);
    if (next && is_reduced() && !next->at_point) {
        count = keep_equals(next, found, count);
    }
    if (count == 0) {
        return false;
    }
    const unsigned chosen =
        next ? choose(CAMKES_CHOICE_ARRIVAL, 1u + count) : 1 + choose(CAMKES_CHOICE_FIRST, count);
    if (chosen == 0) {
        return false;
    }
    const struct thread *waiter = found[chosen - 1]->timer.notification->notification.queue.head;
    timer_arrive(found[chosen - 1]);
    if (next && waiter->priority == next->priority) {
        /* an equal that arrives is the first of them, or it would not matter that it does */
        run_before(kernel->current, kernel->candidate);
    }
    return true;
}
