/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Queues of threads that wait for an endpoint or a notification: first in, first out. */
#include "operations.h"

void queue_append(struct queue *queue, struct thread *thread)
{
    thread->wait_next = NULL;
    thread->wait_previous = queue->tail;
    if (queue->tail) {
        queue->tail->wait_next = thread;
    } else {
        queue->head = thread;
    }
    queue->tail = thread;
}

void queue_remove(struct queue *queue, struct thread *thread)
{
    if (thread->wait_previous) {
        thread->wait_previous->wait_next = thread->wait_next;
    } else {
        queue->head = thread->wait_next;
    }
    if (thread->wait_next) {
        thread->wait_next->wait_previous = thread->wait_previous;
    } else {
        queue->tail = thread->wait_previous;
    }
    thread->wait_next = thread->wait_previous = NULL;
}
