/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Who runs next. As in seL4: the running thread is in no queue; a thread that is woken may be
 * switched to directly; one that is preempted goes back to the head of its queue, one whose time
 * slice is over to the tail.
 */
#include "kernel.h"

static void link_head(struct queue *queue, struct thread *thread)
{
    thread->ready_previous = NULL;
    thread->ready_next = queue->head;
    if (queue->head) {
        queue->head->ready_previous = thread;
    } else {
        queue->tail = thread;
    }
    queue->head = thread;
}

static void link_tail(struct queue *queue, struct thread *thread)
{
    thread->ready_next = NULL;
    thread->ready_previous = queue->tail;
    if (queue->tail) {
        queue->tail->ready_next = thread;
    } else {
        queue->head = thread;
    }
    queue->tail = thread;
}

static void enqueue(struct thread *thread, void link(struct queue *, struct thread *))
{
    if (!thread->queued) {
        link(&kernel->ready[thread->priority], thread);
        kernel->ready_bitmap[thread->priority / 64] |= (uint64_t)1 << thread->priority % 64;
        thread->queued = true;
    }
}

static void prepend(struct thread *thread)
{
    enqueue(thread, link_head);
}

void schedule_append(struct thread *thread)
{
    enqueue(thread, link_tail);
}

void schedule_remove(struct thread *thread)
{
    if (!thread->queued) {
        return;
    }
    struct queue *queue = &kernel->ready[thread->priority];
    if (thread->ready_previous) {
        thread->ready_previous->ready_next = thread->ready_next;
    } else {
        queue->head = thread->ready_next;
    }
    if (thread->ready_next) {
        thread->ready_next->ready_previous = thread->ready_previous;
    } else {
        queue->tail = thread->ready_previous;
    }
    if (!queue->head) {
        kernel->ready_bitmap[thread->priority / 64] &= ~((uint64_t)1 << thread->priority % 64);
    }
    thread->queued = false;
}

/* The highest priority with a ready thread, or -1. */
static int highest(void)
{
    for (int i = PRIORITIES / 64 - 1; i >= 0; i--) {
        if (kernel->ready_bitmap[i]) {
            return i * 64 + 63 - __builtin_clzll(kernel->ready_bitmap[i]);
        }
    }
    return -1;
}

/* Nothing is decided yet: the queues will tell. */
void schedule_again(void)
{
    if (kernel->action == ACTION_SWITCH) {
        prepend(kernel->candidate);
    }
    kernel->action = ACTION_CHOOSE;
}

void schedule_set_state(struct thread *thread, enum thread_state state)
{
    thread->state = state;
    if (thread == kernel->current && kernel->action == ACTION_RESUME && state != THREAD_RUNNING) {
        kernel->action = ACTION_CHOOSE;
    }
}

/* The thread is runnable; perhaps it should run at once. */
void schedule_wake(struct thread *thread)
{
    if (kernel->action == ACTION_RESUME) {
        kernel->action = ACTION_SWITCH;
        kernel->candidate = thread;
    } else {
        schedule_again();
        prepend(thread);
    }
}

void schedule_set_priority(struct thread *thread, uint8_t priority)
{
    schedule_remove(thread);
    thread->priority = priority;
    if (thread->state != THREAD_RUNNING) {
        return;
    }
    if (thread == kernel->current) {
        schedule_again();
    } else {
        schedule_wake(thread);
    }
}

bool schedule_has_equal(const struct thread *thread)
{
    return kernel->ready[thread->priority].head;
}

/* The time slice of the running thread is over, or treated so. */
void schedule_end_slice(void)
{
    kernel->current->slice = kernel->options.timeslice;
    schedule_append(kernel->current);
    schedule_again();
}

static void run(struct thread *thread)
{
    if (thread) {
        schedule_remove(thread);
    }
    kernel->current = thread;
}

static void choose_thread(void)
{
    int priority = highest();
    if (priority < 0) {
        run(NULL);
        return;
    }
    struct thread *thread = kernel->ready[priority].head;
    unsigned ties = 0;
    for (struct thread *other = thread; other; other = other->ready_next) {
        ties++;
    }
    for (unsigned i = choose(CAMKES_CHOICE_TIE, ties); i; i--) {
        thread = thread->ready_next;
    }
    run(thread);
}

/* Decides kernel->current. */
void schedule(void)
{
    if (kernel->action == ACTION_RESUME) {
        return;
    }
    struct thread *current = kernel->current;
    bool runnable = current && current->state == THREAD_RUNNING;
    if (kernel->action == ACTION_CHOOSE && current && !runnable && kernel->now > 0) {
        timer_fire_due(); /* a thread whose work is done makes way to all who are released now */
    }
    struct thread *candidate = kernel->candidate;
    if (runnable) {
        prepend(current);
    }
    if (kernel->action == ACTION_CHOOSE) {
        choose_thread();
    } else if ((!current || candidate->priority < current->priority) &&
               candidate->priority < highest()) {
        prepend(candidate);
        choose_thread();
    } else if (runnable && candidate->priority == current->priority) {
        schedule_append(candidate);
        choose_thread();
    } else {
        run(candidate);
    }
    kernel->action = ACTION_RESUME;
}
