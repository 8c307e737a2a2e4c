/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Queues of threads: those that wait for an endpoint or a notification, and those that are ready.
 * No thread is in two of them.
 */
#include "operations.h"

void queue_prepend(struct queue *queue, struct thread *thread)
{
    thread->previous = NULL;
    thread->next = queue->head;
    if (queue->head) {
        queue->head->previous = thread;
    } else {
        queue->tail = thread;
    }
    queue->head = thread;
}

void queue_append(struct queue *queue, struct thread *thread)
{
    thread->next = NULL;
    thread->previous = queue->tail;
    if (queue->tail) {
        queue->tail->next = thread;
    } else {
        queue->head = thread;
    }
    queue->tail = thread;
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
