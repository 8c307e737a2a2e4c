/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The operations on threads and capability spaces, as a thread calls them. */
#include "time/budget.h"
#include "entry/entry.h"
#include "objects/operations.h"
#include "record/output.h"
#include "scheduling/scheduling.h"

struct thread *invocation_thread(struct thread *self, seL4_CPtr slot)
{
    struct cap *cap = cap_find(self, slot);
    return cap && cap->kind == OBJECT_TCB ? cap->object->thread : NULL;
}

static void suspend(struct thread *thread, struct thread *by)
{
    if (thread->state == THREAD_INACTIVE) {
        return;
    }
    tcb_stop(thread);
    TRACE(BLOCK, thread, by, CAMKES_BLOCK_SUSPENDED, thread->tcb->number);
}

void invocation_resume(struct thread *thread, struct thread *by)
{
    if (thread->state == THREAD_RUNNING) {
        return;
    }
    tcb_cancel(thread);
    thread->fault.kind = 0;
    if (kernel->mcs) {
        budget_unblock(thread);
    }
    ready_make(thread, by);
}

/* Neither value, where there is one, may be above the maximum of the authority's thread. */
seL4_Error invocation_set_priorities(struct thread *self, seL4_CPtr tcb, seL4_CPtr authority,
                                     const seL4_Word *maximum, const seL4_Word *priority)
{
    struct thread *thread = invocation_thread(self, tcb);
    struct thread *allowed_by = invocation_thread(self, authority);
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
        ready_set_priority(thread, (uint8_t)*priority);
    }
    return seL4_NoError;
}

seL4_Error seL4_TCB_SetPriority(seL4_TCB tcb, seL4_CPtr authority, seL4_Word priority)
{
    struct thread *self = kernel_enter(CAMKES_KCALL_SETPRIORITY, tcb);
    seL4_Error error = invocation_set_priorities(self, tcb, authority, NULL, &priority);
    kernel_leave(self);
    return error;
}

seL4_Error seL4_TCB_SetMCPriority(seL4_TCB tcb, seL4_CPtr authority, seL4_Word maximum)
{
    struct thread *self = kernel_enter(CAMKES_KCALL_SETPRIORITY, tcb);
    seL4_Error error = invocation_set_priorities(self, tcb, authority, &maximum, NULL);
    kernel_leave(self);
    return error;
}

seL4_Error seL4_TCB_SetSchedParams(seL4_TCB tcb, seL4_CPtr authority, seL4_Word maximum,
                                   seL4_Word priority)
{
    struct thread *self = kernel_enter(CAMKES_KCALL_SETPRIORITY, tcb);
    seL4_Error error = invocation_set_priorities(self, tcb, authority, &maximum, &priority);
    kernel_leave(self);
    return error;
}

seL4_Error seL4_TCB_Suspend(seL4_TCB tcb)
{
    struct thread *self = kernel_enter(CAMKES_KCALL_SUSPEND, tcb);
    struct thread *thread = invocation_thread(self, tcb);
    if (thread) {
        suspend(thread, self);
    }
    kernel_leave(self);
    return thread ? seL4_NoError : seL4_InvalidCapability;
}

seL4_Error seL4_TCB_Resume(seL4_TCB tcb)
{
    struct thread *self = kernel_enter(CAMKES_KCALL_RESUME, tcb);
    struct thread *thread = invocation_thread(self, tcb);
    if (thread) {
        invocation_resume(thread, self);
    }
    kernel_leave(self);
    return thread ? seL4_NoError : seL4_InvalidCapability;
}

static seL4_Error find_slot(struct thread *self, seL4_CNode root, seL4_Word slot, seL4_Uint8 depth,
                            struct cap **found)
{
    struct cap *cnode = cap_find(self, root);
    if (root != seL4_CapNull && (!cnode || cnode->kind != OBJECT_CNODE)) {
        cap_note(self, "operation on a slot of a capability that is not a CNode", root);
        return seL4_InvalidCapability;
    }
    if (depth < 1 || depth > seL4_WordBits || (depth < seL4_WordBits && slot >> depth != 0)) {
        return seL4_RangeError;
    }
    *found = cap_find(self, slot);
    return *found ? seL4_NoError : seL4_FailedLookup;
}

static seL4_Error save_caller(struct thread *self, seL4_CNode root, seL4_Word slot,
                              seL4_Uint8 depth)
{
    struct cap *cap;
    seL4_Error error = find_slot(self, root, slot, depth, &cap);
    if (error) {
        return error;
    }
    if (cap->kind != OBJECT_NOTHING) {
        return seL4_DeleteFirst;
    }
    if (self->caller.kind == OBJECT_REPLY) {
        cap_move_reply(cap, &self->caller);
    }
    return seL4_NoError;
}

seL4_Error seL4_CNode_SaveCaller(seL4_CNode root, seL4_Word slot, seL4_Uint8 depth)
{
    struct thread *self = kernel_enter(CAMKES_KCALL_SAVECALLER, seL4_CapNull);
    seL4_Error error = save_caller(self, root, slot, depth);
    kernel_leave(self);
    return error;
}

seL4_Error seL4_CNode_Delete(seL4_CNode root, seL4_Word slot, seL4_Uint8 depth)
{
    struct thread *self = kernel_enter(CAMKES_KCALL_CNODE, seL4_CapNull);
    struct cap *cap;
    seL4_Error error = find_slot(self, root, slot, depth, &cap);
    if (!error) {
        cap_clear(cap);
    }
    kernel_leave(self);
    return error;
}
