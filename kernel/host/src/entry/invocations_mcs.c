/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The operations on scheduling contexts, and those on threads that have to do with them. Which
 * errors there are, and which of several comes first, is as in seL4. */
#define CONFIG_KERNEL_MCS 1
#include "time/budget.h"
#include "entry/entry.h"
#include "objects/operations.h"
#include "scheduling/scheduling.h"

static struct object *find(struct thread *self, seL4_CPtr slot, enum object_kind kind,
                           const char *what)
{
    const struct cap *cap = cap_find(self, slot);
    if (cap && cap->kind == kind) {
        return cap->object;
    }
    cap_note(self, what, slot);
    return NULL;
}

static struct object *find_context(struct thread *self, seL4_CPtr slot)
{
    return find(self, slot, OBJECT_CONTEXT, "no scheduling context behind this capability");
}

static bool is_blocked(const struct thread *thread)
{
    return thread->state != THREAD_RUNNING && thread->state != THREAD_INACTIVE;
}

/* ---- which object has a context ---- */

/* A thread that waits can be bound only if it could run when it is woken. */
static seL4_Error check_bind(const struct object *context, const struct thread *thread)
{
    if (context->context->thread || thread->context ||
        (is_blocked(thread) && !budget_ready(context))) {
        return seL4_IllegalOperation;
    }
    return seL4_NoError;
}

static seL4_Error bind_notification(struct object *context, struct object *notification)
{
    if (context->context->notification || notification->notification.context) {
        return seL4_IllegalOperation;
    }
    context->context->notification = notification;
    notification->notification.context = context;
    return seL4_NoError;
}

static seL4_Error bind(struct thread *self, seL4_CPtr slot, seL4_CPtr object)
{
    struct object *context = find_context(self, slot);
    const struct cap *cap = cap_find(self, object);
    struct thread *thread = invocation_thread(self, object);
    if (!context || !cap || (cap->kind != OBJECT_TCB && cap->kind != OBJECT_NOTIFICATION)) {
        return seL4_InvalidCapability;
    }
    if (!thread) {
        return bind_notification(context, cap->object);
    }
    const seL4_Error error = check_bind(context, thread);
    if (!error) {
        budget_bind(context, thread, self);
    }
    return error;
}

static void unbind_notification(struct object *context)
{
    struct object *notification = context->context->notification;
    if (notification) {
        notification->notification.context = NULL;
        context->context->notification = NULL;
    }
}

static seL4_Error unbind(struct thread *self, seL4_CPtr slot)
{
    struct object *context = find_context(self, slot);
    if (!context) {
        return seL4_InvalidCapability;
    }
    if (context->context->thread == self) {
        return seL4_IllegalOperation;
    }
    budget_unbind(context, self);
    unbind_notification(context);
    reply_unbind(context);
    return seL4_NoError;
}

static seL4_Error unbind_object(struct thread *self, seL4_CPtr slot, seL4_CPtr object)
{
    struct object *context = find_context(self, slot);
    const struct cap *cap = cap_find(self, object);
    if (!context || !cap || (cap->kind != OBJECT_TCB && cap->kind != OBJECT_NOTIFICATION)) {
        return seL4_InvalidCapability;
    }
    if (cap->kind == OBJECT_NOTIFICATION) {
        if (context->context->notification != cap->object) {
            return seL4_IllegalOperation;
        }
        unbind_notification(context);
        return seL4_NoError;
    }
    if (context->context->thread != cap->object->thread || cap->object->thread == self) {
        return seL4_IllegalOperation;
    }
    budget_unbind(context, self);
    return seL4_NoError;
}

seL4_Error seL4_SchedContext_Bind(seL4_SchedContext context, seL4_CPtr object)
{
    struct thread *self = kernel_enter(CAMKES_KCALL_CONTEXT, context);
    const seL4_Error error = bind(self, context, object);
    kernel_leave(self);
    return error;
}

seL4_Error seL4_SchedContext_Unbind(seL4_SchedContext context)
{
    struct thread *self = kernel_enter(CAMKES_KCALL_CONTEXT, context);
    const seL4_Error error = unbind(self, context);
    kernel_leave(self);
    return error;
}

seL4_Error seL4_SchedContext_UnbindObject(seL4_SchedContext context, seL4_CPtr object)
{
    struct thread *self = kernel_enter(CAMKES_KCALL_CONTEXT, context);
    const seL4_Error error = unbind_object(self, context, object);
    kernel_leave(self);
    return error;
}

/* ---- what was used, and what may be ---- */

seL4_SchedContext_Consumed_t seL4_SchedContext_Consumed(seL4_SchedContext context)
{
    seL4_SchedContext_Consumed_t result = {.error = seL4_InvalidCapability};
    struct thread *self = kernel_enter(CAMKES_KCALL_CONTEXT, context);
    struct object *object = find_context(self, context);
    if (object) {
        result.error = seL4_NoError;
        result.consumed = budget_take_consumed(object);
    }
    kernel_leave(self);
    return result;
}

/* The context's thread runs before its equals, and before the caller if that is one of them. */
static seL4_Error yield_to(struct thread *self, const struct object *context)
{
    struct thread *thread = context->context->thread;
    if (!thread || thread == self || thread->priority > self->max_priority) {
        return seL4_IllegalOperation;
    }
    if (thread->state != THREAD_RUNNING || thread->timeless) {
        return seL4_NoError;
    }
    ready_remove(thread);
    if (thread->priority >= self->priority) {
        ready_again();
        ready_prepend(self);
    }
    ready_prepend(thread);
    return seL4_NoError;
}

seL4_SchedContext_YieldTo_t seL4_SchedContext_YieldTo(seL4_SchedContext context)
{
    seL4_SchedContext_YieldTo_t result = {.error = seL4_InvalidCapability};
    struct thread *self = kernel_enter(CAMKES_KCALL_YIELDTO, context);
    struct object *object = find_context(self, context);
    if (object) {
        result.error = (int)yield_to(self, object);
    }
    kernel_leave(self);
    if (!result.error) {
        self = kernel_enter_quietly();
        result.consumed = budget_take_consumed(object);
        kernel_leave(self);
    }
    return result;
}

static seL4_Error configure(struct thread *self, seL4_CPtr control, seL4_CPtr slot,
                            const struct context *wanted)
{
    if (!find(self, control, OBJECT_SCHED_CONTROL, "no right to configure scheduling contexts")) {
        return seL4_InvalidCapability;
    }
    if (wanted->budget < kernel->options.shortest || wanted->budget == 0 ||
        wanted->budget > wanted->period) {
        return seL4_RangeError;
    }
    struct object *context = find_context(self, slot);
    if (!context) {
        return seL4_InvalidCapability;
    }
    if (wanted->most < 2 || wanted->most > context->context->room) {
        return seL4_RangeError;
    }
    budget_configure(context, wanted);
    return seL4_NoError;
}

seL4_Error seL4_SchedControl_ConfigureFlags(seL4_SchedControl control, seL4_SchedContext context,
                                            seL4_Time budget, seL4_Time period,
                                            seL4_Word extra_refills, seL4_Word badge,
                                            seL4_Word flags)
{
    static const seL4_Time LONGEST = UINT64_MAX / 1000 / 8;
    struct thread *self = kernel_enter(CAMKES_KCALL_CONFIGURE, context);
    const struct context wanted = {
        .budget = 1000 * budget,
        .period = 1000 * period,
        .most = extra_refills < UINT32_MAX - 2 ? (unsigned)extra_refills + 2 : 0,
        .badge = badge,
        .sporadic = (flags & seL4_SchedContext_Sporadic) != 0,
    };
    const bool too_long = budget > LONGEST || period > LONGEST;
    const seL4_Error error =
        too_long ? seL4_RangeError : configure(self, control, context, &wanted);
    kernel_leave(self);
    return error;
}

/* ---- threads ---- */

/* What faults can be sent to; an empty slot means none. */
static bool find_handler(struct thread *self, seL4_CPtr slot, struct cap *handler)
{
    const struct cap *cap = cap_find(self, slot);
    if (!cap) {
        return false;
    }
    *handler = *cap;
    return cap->kind == OBJECT_NOTHING ||
           (cap->kind == OBJECT_ENDPOINT && cap->rights & RIGHT_WRITE &&
            cap->rights & (RIGHT_GRANT | RIGHT_GRANT_REPLY));
}

seL4_Error seL4_TCB_SetTimeoutEndpoint(seL4_TCB tcb, seL4_CPtr endpoint)
{
    struct thread *self = kernel_enter(CAMKES_KCALL_SETTIMEOUT, tcb);
    struct thread *thread = invocation_thread(self, tcb);
    struct cap handler;
    const bool good = thread && find_handler(self, endpoint, &handler);
    if (good) {
        thread->timeout_cap = handler;
    }
    kernel_leave(self);
    return good ? seL4_NoError : seL4_InvalidCapability;
}

static seL4_Error check_context(struct thread *self, const struct thread *thread, seL4_CPtr slot,
                                struct object **context)
{
    const struct cap *cap = cap_find(self, slot);
    if (cap && cap->kind == OBJECT_NOTHING) {
        *context = NULL;
        return thread == self ? seL4_IllegalOperation : seL4_NoError;
    }
    *context = find_context(self, slot);
    if (!*context) {
        return seL4_InvalidCapability;
    }
    if (thread->context == *context) {
        return is_blocked(thread) && !budget_ready(*context) ? seL4_IllegalOperation : seL4_NoError;
    }
    return check_bind(*context, thread);
}

static seL4_Error set_parameters(struct thread *self, seL4_CPtr tcb, seL4_CPtr authority,
                                 const seL4_Word *values, seL4_CPtr slot, seL4_CPtr fault_ep)
{
    struct thread *thread = invocation_thread(self, tcb);
    const struct thread *allowed_by = invocation_thread(self, authority);
    struct object *context;
    struct cap handler;
    if (!thread || !allowed_by) {
        return seL4_InvalidCapability;
    }
    if (values[0] > allowed_by->max_priority || values[1] > allowed_by->max_priority) {
        return seL4_RangeError;
    }
    seL4_Error error = check_context(self, thread, slot, &context);
    if (error) {
        return error;
    }
    if (!find_handler(self, fault_ep, &handler)) {
        return seL4_InvalidCapability;
    }
    thread->fault_cap = handler;
    error = invocation_set_priorities(self, tcb, authority, &values[0], &values[1]);
    if (!error && thread->context != context) {
        if (context) {
            budget_bind(context, thread, self);
        } else {
            budget_unbind(thread->context, self);
        }
    }
    return error;
}

seL4_Error seL4_TCB_SetSchedParams(seL4_TCB tcb, seL4_CPtr authority, seL4_Word maximum,
                                   seL4_Word priority, seL4_SchedContext context,
                                   seL4_CPtr fault_ep)
{
    struct thread *self = kernel_enter(CAMKES_KCALL_SETPRIORITY, tcb);
    const seL4_Word values[] = {maximum, priority};
    const seL4_Error error = set_parameters(self, tcb, authority, values, context, fault_ep);
    kernel_leave(self);
    return error;
}
