/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Operations on threads: priority, suspend, resume. */
#include "kernel.h"

static struct thread *find_thread(struct thread *self, seL4_CPtr slot)
{
    struct cap *cap = cap_find(self, slot);
    return cap && cap->kind == OBJECT_TCB ? cap->object->thread : NULL;
}

/* Whatever the thread waits for, it does not any more. */
void tcb_cancel(struct thread *thread)
{
    switch (thread->state) {
    case THREAD_BLOCKED_SEND:
    case THREAD_BLOCKED_RECV:
        endpoint_cancel(thread);
        break;
    case THREAD_BLOCKED_NOTIFICATION:
        notification_cancel(thread);
        break;
    case THREAD_BLOCKED_REPLY:
        if (thread->reply_slot) {
            cap_clear(thread->reply_slot);
        }
        break;
    case THREAD_INACTIVE:
    case THREAD_RUNNING:
        return;
    }
    thread->fault.kind = 0;
    thread->redo = true; /* when it goes on, it does the same operation again */
    schedule_set_state(thread, THREAD_INACTIVE);
}

/* The thread runs no more, until it is resumed. */
void tcb_stop(struct thread *thread)
{
    tcb_cancel(thread);
    if (kernel->action == ACTION_SWITCH && kernel->candidate == thread) {
        kernel->action = ACTION_CHOOSE;
    }
    schedule_remove(thread);
    schedule_set_state(thread, THREAD_INACTIVE);
}

static void suspend(struct thread *thread, struct thread *by)
{
    if (thread->state == THREAD_INACTIVE) {
        return;
    }
    tcb_stop(thread);
    TRACE(BLOCK, thread, by, CAMKES_BLOCK_SUSPENDED, thread->tcb->number);
}

static void resume(struct thread *thread, struct thread *by)
{
    if (thread->state == THREAD_RUNNING) {
        return;
    }
    tcb_cancel(thread);
    thread->fault.kind = 0;
    schedule_set_state(thread, THREAD_RUNNING);
    TRACE_PLAIN(READY, thread, by);
    schedule_wake(thread);
}

/* Neither value, where there is one, may be above the maximum of the authority's thread. */
static seL4_Error set_priorities(struct thread *self, seL4_CPtr tcb, seL4_CPtr authority,
                                 const seL4_Word *maximum, const seL4_Word *priority)
{
    struct thread *thread = find_thread(self, tcb);
    struct thread *allowed_by = find_thread(self, authority);
    if (!thread || !allowed_by) {
        cap_note(self, "priorities set without the capability of a thread",
                 thread ? authority : tcb);
        return seL4_InvalidCapability;
    }
    if ((maximum && *maximum > allowed_by->max_priority) ||
        (priority && *priority > allowed_by->max_priority)) {
        return seL4_RangeError;
    }
    if (maximum) {
        thread->max_priority = (uint8_t)*maximum;
    }
    if (priority) {
        TRACE(PRIORITY, thread, self, thread->priority, *priority);
        schedule_set_priority(thread, (uint8_t)*priority);
    }
    return seL4_NoError;
}

seL4_Error seL4_TCB_SetPriority(seL4_TCB tcb, seL4_CPtr authority, seL4_Word priority)
{
    struct thread *self = kernel_enter(CAMKES_KCALL_SETPRIORITY, tcb);
    seL4_Error error = set_priorities(self, tcb, authority, NULL, &priority);
    kernel_leave(self);
    return error;
}

seL4_Error seL4_TCB_SetMCPriority(seL4_TCB tcb, seL4_CPtr authority, seL4_Word maximum)
{
    struct thread *self = kernel_enter(CAMKES_KCALL_SETPRIORITY, tcb);
    seL4_Error error = set_priorities(self, tcb, authority, &maximum, NULL);
    kernel_leave(self);
    return error;
}

seL4_Error seL4_TCB_SetSchedParams(seL4_TCB tcb, seL4_CPtr authority, seL4_Word maximum,
                                   seL4_Word priority)
{
    struct thread *self = kernel_enter(CAMKES_KCALL_SETPRIORITY, tcb);
    seL4_Error error = set_priorities(self, tcb, authority, &maximum, &priority);
    kernel_leave(self);
    return error;
}

seL4_Error seL4_TCB_Suspend(seL4_TCB tcb)
{
    struct thread *self = kernel_enter(CAMKES_KCALL_SUSPEND, tcb);
    struct thread *thread = find_thread(self, tcb);
    if (thread) {
        suspend(thread, self);
    }
    kernel_leave(self);
    return thread ? seL4_NoError : seL4_InvalidCapability;
}

seL4_Error seL4_TCB_Resume(seL4_TCB tcb)
{
    struct thread *self = kernel_enter(CAMKES_KCALL_RESUME, tcb);
    struct thread *thread = find_thread(self, tcb);
    if (thread) {
        resume(thread, self);
    }
    kernel_leave(self);
    return thread ? seL4_NoError : seL4_InvalidCapability;
}
