/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Threads that are stopped from outside. */
#include "time/budget.h"
#include "objects/operations.h"
#include "scheduling/scheduling.h"
#include "state.h"

/* The capability to reply may be that of any thread. */
static void touch_all(void)
{
    for (unsigned i = 0; hooks.touched && i < kernel->thread_count; i++) {
        hooks.touched(&kernel->threads[i]);
    }
}

/* Whatever the thread waits for, it does not any more. */
void tcb_cancel(struct thread *thread)
{
    switch (thread->state) {
    case THREAD_BLOCKED_RECV:
        reply_take(thread);
        endpoint_cancel(thread);
        break;
    case THREAD_BLOCKED_SEND:
        endpoint_cancel(thread);
        break;
    case THREAD_BLOCKED_NOTIFICATION:
        notification_cancel(thread);
        break;
    case THREAD_BLOCKED_REPLY:
        reply_forget(thread);
        if (thread->reply_slot) {
            touch_all();
            cap_clear(thread->reply_slot);
        }
        break;
    case THREAD_INACTIVE:
    case THREAD_RUNNING:
        return;
    }
    thread->fault.kind = 0;
    thread->redo = true; /* when it goes on, it does the same operation again */
    ready_set_state(thread, THREAD_INACTIVE);
}

/* The thread runs no more, until it is resumed. */
void tcb_stop(struct thread *thread)
{
    tcb_cancel(thread);
    if (kernel->action == ACTION_SWITCH && kernel->candidate == thread) {
        kernel->action = ACTION_CHOOSE;
    }
    ready_remove(thread);
    budget_forget(thread);
    ready_set_state(thread, THREAD_INACTIVE);
}
