/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * The end of a budget on an MCS kernel: a message to the thread's timeout handler, or it waits for
 * its refill.
 *
 * What a thread does in no time at the instant at which its budget is used up belongs to that
 * budget, which ends when the thread wants time to pass, or is chosen to run later.
 */
#include "time/budget.h"
#include "objects/operations.h"
#include "record/output.h"
#include "time/refill.h"
#include "scheduling/scheduling.h"

enum { LABEL = 5 }; /* seL4_Fault_Timeout of an MCS kernel's headers */

/* The time in the message is that at which it is received, see endpoint.c. */
static void raise(struct thread *thread)
{
    const struct cap *handler = &thread->timeout_cap;
    const struct context *context = thread->context->context;
    ready_remove(thread);
    thread->fault = (struct fault){
        .kind = CAMKES_FAULT_TIMEOUT, .label = LABEL, .length = 2, .message = {context->badge, 0}};
    TRACE(TIMEOUT, thread, NULL, thread->context->number, context->consumed, context->badge);
    endpoint_send(thread, handler->object, handler, true, true, false);
}

/* The first refill of a thread that could run is used up. */
void timeout_end_slice(struct thread *thread, bool may_fault)
{
    struct object *object = thread->context;
    const bool round_robin = object->context->period == 0;
    if (object == kernel->context) {
        budget_charge();
    }
    object->context->spent = 0;
    if (may_fault && !round_robin && thread->timeout_cap.kind == OBJECT_ENDPOINT) {
        raise(thread);
    } else if (!budget_ready(object)) {
        budget_postpone(thread);
    } else {
        ready_append(thread);
        if (thread == kernel->current) {
            ready_again();
        }
    }
}

/* The running thread does without the rest of its first refill. */
void timeout_yield(struct thread *self)
{
    struct context *context = self->context->context;
    budget_charge();
    if (refill_ready(context, kernel->now)) {
        refill_charge(context, context->refills[0].amount, 1);
    }
    timeout_end_slice(self, false);
}

/*
 * A thread was chosen: charges the context that was used before. If its own has nothing left, that
 * is the end of its budget. True: there is something to decide again.
 */
bool timeout_settle(void)
{
    struct thread *next = kernel->current;
    if (kernel->context == (next ? next->context : NULL)) {
        return false;
    }
    budget_charge();
    budget_follow();
    if (!next || budget_ready(next->context)) {
        return false;
    }
    timeout_end_slice(next, true);
    return true;
}

/* Whether the thread that runs has the time that an operation may take. */
bool timeout_enters(void)
{
    return budget_left() >= kernel->options.least_budget;
}

/* Answers a call or a fault. A thread that gets an empty context back has come to its end, too,
 * unless it just had that. */
void timeout_reply(struct thread *sender, struct object *object, bool grant)
{
    struct thread *receiver = object->reply.thread;
    if (!receiver || receiver->state != THREAD_BLOCKED_REPLY) {
        return;
    }
    const bool timed_out = receiver->fault.kind == CAMKES_FAULT_TIMEOUT;
    reply_pop(object);
    if (!endpoint_answer(sender, receiver, grant)) {
        return;
    }
    budget_unblock(receiver);
    ready_make(receiver, sender);
    if (receiver->postponed && !timed_out && receiver->timeout_cap.kind == OBJECT_ENDPOINT) {
        budget_forget(receiver);
        timeout_end_slice(receiver, true);
        receiver->fault.after_reply = true;
    }
}
