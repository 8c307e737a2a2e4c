/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Queues of threads: those that wait for an endpoint or a notification, and those that are ready.
 * No thread is in two of them.
 */
#include "objects/operations.h"

/* Behind `previous`; at the head if that is NULL. */
void queue_insert(struct queue *queue, struct thread *thread, struct thread *previous)
{
    struct thread *next = previous ? previous->next : queue->head;
    thread->previous = previous;
    thread->next = next;
    *(previous ? &previous->next : &queue->head) = thread;
    *(next ? &next->previous : &queue->tail) = thread;
}

void queue_append(struct queue *queue, struct thread *thread)
{
    queue_insert(queue, thread, queue->tail);
}

/* Behind all that have at least its priority. */
void queue_rank(struct queue *queue, struct thread *thread)
{
    struct thread *previous = queue->tail;
    while (previous && previous->priority < thread->priority) {
        previous = previous->previous;
    }
    queue_insert(queue, thread, previous);
}

void queue_remove(struct queue *queue, struct thread *thread)
{
    if (thread->previous) {
        thread->previous->next = thread->next;
    } else {
        queue->head = thread->next;
    }
    if (thread->next) {
        thread->next->previous = thread->previous;
    } else {
        queue->tail = thread->previous;
    }
    thread->next = thread->previous = NULL;
}
