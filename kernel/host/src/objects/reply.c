/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Reply objects of an MCS kernel. A call to a thread without a scheduling context takes the
 * caller's along, and so on: the reply objects of these calls are a list, the context is the
 * property of its last one and goes back with the answer to that.
 */
#include "time/budget.h"

/* The thread is about to receive, and answers a call through this. */
void reply_receive_with(struct thread *thread, struct object *object)
{
    object->reply.thread = thread;
    thread->reply = object;
}

/* It has received. Returns what it received with. */
struct object *reply_take(struct thread *thread)
{
    struct object *object = thread->reply;
    if (object) {
        object->reply.thread = NULL;
        thread->reply = NULL;
    }
    return object;
}

/* The caller waits for an answer through what the receiver has received with; a receiver without
 * time is given the caller's. */
void reply_push(struct thread *caller, struct thread *receiver)
{
    struct object *object = reply_take(receiver);
    struct object *given = caller->context;
    reply_receive_with(caller, object);
    if (!given || receiver->context || caller->fault.kind == CAMKES_FAULT_TIMEOUT) {
        return;
    }
    struct object *earlier = given->context->reply;
    if (earlier) {
        earlier->reply.later = object;
        earlier->reply.context = NULL;
    }
    object->reply.earlier = earlier;
    object->reply.context = given;
    given->context->reply = object;
    budget_donate(given, receiver, CAMKES_BIND_CALL);
}

/* Out of its list. Calls before one that is not the last do not get the context back. */
static void unlink(struct object *object, struct object *heir)
{
    const struct reply reply = object->reply;
    if (reply.context) {
        reply.context->context->reply = heir;
    }
    if (reply.later) {
        reply.later->reply.earlier = NULL;
    }
    if (reply.earlier) {
        reply.earlier->reply.later = NULL;
        reply.earlier->reply.context = heir ? reply.context : NULL;
    }
    reply.thread->reply = NULL;
    object->reply = (struct reply){0};
}

/* The call is answered. A caller that was given another context in between keeps that. */
void reply_pop(struct object *object)
{
    const struct reply reply = object->reply;
    unlink(object, reply.context ? reply.earlier : NULL);
    if (reply.context && !reply.thread->context) {
        budget_donate(reply.context, reply.thread, CAMKES_BIND_REPLY);
    }
}

/* The caller does not wait for an answer any more. */
void reply_forget(struct thread *caller)
{
    if (caller->reply) {
        unlink(caller->reply, NULL);
    }
}

/* The context does not go back to callers. */
void reply_unbind(struct object *context)
{
    struct object *last = context->context->reply;
    if (last) {
        last->reply.context = NULL;
        context->context->reply = NULL;
    }
}
