/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Notifications: a word of badges and a queue of waiters. */
#include "time/budget.h"
#include "objects/operations.h"
#include "record/output.h"
#include "scheduling/scheduling.h"

#include <string.h>

void notification_signal(struct object *object, uint64_t badge, struct thread *by)
{
    struct notification *notification = &object->notification;
    TRACE(SIGNAL, by, NULL, object->number, badge);
    struct thread *waiter = notification->queue.head;
    if (waiter) {
        queue_remove(&notification->queue, waiter);
        waiter->waits_for = NULL;
        waiter->badge = badge;
        if (kernel->mcs) {
            budget_lend(object, waiter);
        }
        ready_make(waiter, by);
    } else if (notification->active) {
        notification->word |= badge;
    } else {
        notification->active = true;
        notification->word = badge;
    }
}

/* Returns whether there was a signal. */
bool notification_wait(struct thread *thread, struct object *object, bool blocking)
{
    struct notification *notification = &object->notification;
    if (notification->active) {
        thread->badge = notification->word;
        notification->active = false;
        if (kernel->mcs) {
            budget_lend(object, thread);
        }
        return true;
    }
    thread->badge = 0;
    if (thread->between_count > 0) {
        memset(thread->between, 0, sizeof thread->between);
        thread->between_count = 0;
    }
    if (blocking) {
        ready_set_state(thread, THREAD_BLOCKED_NOTIFICATION);
        if (kernel->mcs) {
            queue_rank(&notification->queue, thread);
            budget_return(object, thread);
        } else {
            queue_append(&notification->queue, thread);
        }
        thread->waits_for = object;
        TRACE(BLOCK, thread, NULL, CAMKES_BLOCK_NOTIFICATION, object->number);
    }
    return false;
}

void notification_cancel(struct thread *thread)
{
    queue_remove(&thread->waits_for->notification.queue, thread);
    thread->waits_for = NULL;
}
