/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Who could run: a queue for each priority of each domain. As in seL4, the running thread is in no
 * queue; one that is preempted goes back to the head of its queue, one whose time slice is over to
 * the tail. Threads are chosen from the domain whose slot it is.
 */
#include "objects/operations.h"
#include "record/output.h"
#include "scheduling/scheduling.h"
#include "state.h"

/* With --arrivals any thread of a queue may be chosen, so its order makes no difference. There is
 * one order only then, and states that differ in nothing else are the same. */
static struct thread *behind_lower_numbers(const struct queue *queue, const struct thread *thread)
{
    struct thread *previous = queue->tail;
    while (previous && previous->number > thread->number) {
        previous = previous->previous;
    }
    return previous;
}

static void enqueue(struct thread *thread, bool first)
{
    struct queue *queue = &thread->ready->queues[thread->priority];
    if (!thread->queued && !thread->timeless) {
        struct thread *previous = kernel->options.arrivals ? behind_lower_numbers(queue, thread)
                                  : first                  ? NULL
                                                           : queue->tail;
        queue_insert(queue, thread, previous);
        thread->ready->bitmap[thread->priority / 64] |= (uint64_t)1 << thread->priority % 64;
        thread->queued = true;
    }
}

void ready_prepend(struct thread *thread)
{
    enqueue(thread, true);
}

void ready_append(struct thread *thread)
{
    enqueue(thread, false);
}

void ready_remove(struct thread *thread)
{
    if (!thread->queued) {
        return;
    }
    struct queue *queue = &thread->ready->queues[thread->priority];
    queue_remove(queue, thread);
    if (!queue->head) {
        thread->ready->bitmap[thread->priority / 64] &= ~((uint64_t)1 << thread->priority % 64);
    }
    thread->queued = false;
}

/* The highest priority with a ready thread of this domain, or -1. */
int ready_highest(void)
{
    for (int i = PRIORITIES / 64 - 1; i >= 0; i--) {
        if (kernel->ready->bitmap[i]) {
            return i * 64 + 63 - __builtin_clzll(kernel->ready->bitmap[i]);
        }
    }
    return -1;
}

/* Nothing is decided yet: the queues decide. */
void ready_again(void)
{
    if (kernel->action == ACTION_SWITCH) {
        ready_prepend(kernel->candidate);
    }
    kernel->action = ACTION_CHOOSE;
}

/* (On an MCS kernel a caller waits before the receiver is woken, to which it gives its time; that
 * one is switched to nevertheless. See schedule.c.) */
void ready_set_state(struct thread *thread, enum thread_state state)
{
    thread->state = state;
    if (!kernel->mcs && thread == kernel->current && kernel->action == ACTION_RESUME &&
        state != THREAD_RUNNING) {
        kernel->action = ACTION_CHOOSE;
    }
}

/* The thread is runnable; perhaps it should run at once. */
void ready_wake(struct thread *thread)
{
    if (thread->timeless) {
        return;
    }
    if (thread->ready != kernel->ready) {
        ready_prepend(thread); /* it waits for a slot of its domain */
    } else if (kernel->action == ACTION_RESUME) {
        kernel->action = ACTION_SWITCH;
        kernel->candidate = thread;
    } else {
        ready_again();
        ready_prepend(thread);
    }
}

/* It waits no more, because of what `by` did (NULL: a timer). */
void ready_make(struct thread *thread, const struct thread *by)
{
    ready_set_state(thread, THREAD_RUNNING);
    TRACE_PLAIN(READY, thread, by);
    ready_wake(thread);
}

/* On an MCS kernel a thread keeps its place by priority where it waits, and is the first of its
 * new queue if it is ready. */
static void rank_again(struct thread *thread)
{
    struct object *object = thread->waits_for;
    if (object) {
        struct queue *queue =
            object->kind == OBJECT_ENDPOINT ? &object->endpoint.queue : &object->notification.queue;
        queue_remove(queue, thread);
        queue_rank(queue, thread);
    } else if (thread->state == THREAD_RUNNING) {
        ready_again();
        ready_prepend(thread);
    }
}

void ready_set_priority(struct thread *thread, uint8_t priority)
{
    ready_remove(thread);
    thread->priority = priority;
    if (kernel->mcs) {
        rank_again(thread);
        return;
    }
    if (thread->state != THREAD_RUNNING) {
        return;
    }
    if (thread == kernel->current) {
        ready_again();
    } else {
        ready_wake(thread);
    }
}

unsigned ready_count(unsigned priority)
{
    unsigned count = 0;
    for (const struct thread *thread = kernel->ready->queues[priority].head; thread;
         thread = thread->next) {
        count++;
    }
    return count;
}

/* Out of its queue, where it has this place, from 0. */
struct thread *ready_take(unsigned priority, unsigned place)
{
    struct thread *thread = kernel->ready->queues[priority].head;
    while (place-- > 0) {
        thread = thread->next;
    }
    ready_remove(thread);
    return thread;
}

/* Whether all ready threads of a priority start. */
bool ready_start(unsigned priority)
{
    const struct thread *thread = kernel->ready->queues[priority].head;
    while (thread && thread->starts) {
        thread = thread->next;
    }
    return !thread;
}

bool ready_has_equal(const struct thread *thread)
{
    return thread->ready->queues[thread->priority].head;
}

/* The time slice of the running thread is over, or treated so. */
void ready_end_slice(void)
{
    kernel->current->slice = kernel->options.timeslice;
    ready_append(kernel->current);
    ready_again();
}
