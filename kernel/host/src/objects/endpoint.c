/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Messages: endpoints and replies. */
#include "time/budget.h"
#include "objects/operations.h"
#include "record/output.h"
#include "scheduling/scheduling.h"
#include "state.h"

#include <string.h>

/* The empty slot that the receiver has named for a capability; NULL: there is none. */
static struct cap *receive_slot(struct thread *to)
{
    const seL4_IPCBuffer *ipc = to->ipc;
    const struct cap *root = cap_find(to, ipc->receiveCNode);
    struct cap *slot = cap_find(to, ipc->receiveIndex);
    const bool good = root && root->kind == OBJECT_CNODE && ipc->receiveDepth != 0;
    return good && slot && slot->kind == OBJECT_NOTHING ? slot : NULL;
}

/*
 * Capabilities travel with a message if the sender has the right to grant them: those to the
 * endpoint itself as their badges, which `badges` says of each, and the first other one into the
 * slot of the receiver. Returns how many do.
 */
static unsigned transfer_caps(struct thread *from, struct thread *to, const struct object *endpoint,
                              bool grant, seL4_Word *badges)
{
    const unsigned announced = (unsigned)seL4_MessageInfo_get_extraCaps(from->ipc->tag);
    struct cap *slot = receive_slot(to);
    unsigned count = 0;
    for (; grant && count < announced; count++) {
        const struct cap *cap = cap_find(from, from->ipc->caps_or_badges[count]);
        const bool known = cap && cap->kind != OBJECT_NOTHING && cap->kind != OBJECT_REPLY;
        if (known && endpoint && cap->kind == OBJECT_ENDPOINT && cap->object == endpoint) {
            to->ipc->caps_or_badges[count] = cap->badge;
            *badges |= (seL4_Word)1 << count;
        } else if (known && slot) {
            *slot = *cap;
            slot = NULL;
        } else {
            break;
        }
    }
    if (count < announced) {
        cap_note(from,
                 grant ? "a capability is not transferred: there is none, or no empty slot for it"
                       : "capabilities are not transferred without the right to grant",
                 from->ipc->caps_or_badges[count]);
    }
    return count;
}

/* What the receiver sees: the message, or the fault of the sender. */
static void transfer(struct thread *from, struct thread *to, uint64_t badge,
                     const struct object *endpoint, bool grant)
{
    seL4_MessageInfo_t tag;
    if (from->fault.kind) {
        if (from->fault.kind == CAMKES_FAULT_TIMEOUT && from->context) {
            from->fault.message[1] = budget_take_consumed(from->context);
        }
        memcpy(to->ipc->msg, from->fault.message, from->fault.length * sizeof(seL4_Word));
        tag = seL4_MessageInfo_new(from->fault.label, 0, 0, from->fault.length);
    } else {
        seL4_Word length = seL4_MessageInfo_get_length(from->ipc->tag);
        length = length > seL4_MsgMaxLength ? seL4_MsgMaxLength : length;
        memcpy(to->ipc->msg, from->ipc->msg, length * sizeof(seL4_Word));
        seL4_Word badges = 0;
        const unsigned caps = transfer_caps(from, to, endpoint, grant, &badges);
        tag =
            seL4_MessageInfo_new(seL4_MessageInfo_get_label(from->ipc->tag), badges, caps, length);
    }
    if (hooks.touched) {
        hooks.touched(to);
    }
    to->ipc->tag = tag;
    to->badge = badge;
}

static void trace_transfer(struct thread *from, struct thread *to, struct object *object)
{
    TRACE(TRANSFER, from, to, object->number, to->badge, seL4_MessageInfo_get_label(to->ipc->tag),
          seL4_MessageInfo_get_length(to->ipc->tag));
}

static struct thread *take_first(struct endpoint *endpoint)
{
    struct thread *first = endpoint->queue.head;
    queue_remove(&endpoint->queue, first);
    if (!endpoint->queue.head) {
        endpoint->state = ENDPOINT_IDLE;
    }
    first->waits_for = NULL;
    return first;
}

static void wait_in(struct thread *thread, struct object *object, enum endpoint_state state)
{
    object->endpoint.state = state;
    (kernel->mcs ? queue_rank : queue_append)(&object->endpoint.queue, thread);
    thread->waits_for = object;
}

/* The receiver gets the only capability to reply to the caller. */
static void expect_reply(struct thread *caller, struct thread *receiver, struct object *object,
                         bool can_reply, bool reply_can_grant)
{
    if (!can_reply || (kernel->mcs && !receiver->reply)) {
        caller->redo = true;
        ready_set_state(caller, THREAD_INACTIVE);
        TRACE(BLOCK, caller, NULL, CAMKES_BLOCK_SUSPENDED, object->number);
        return;
    }
    ready_set_state(caller, THREAD_BLOCKED_REPLY);
    if (kernel->mcs) {
        reply_push(caller, receiver);
    } else {
        receiver->caller =
            (struct cap){.kind = OBJECT_REPLY,
                         .rights = reply_can_grant ? RIGHT_WRITE | RIGHT_GRANT : RIGHT_WRITE,
                         .thread = caller};
        caller->reply_slot = &receiver->caller;
    }
    TRACE(BLOCK, caller, NULL, caller->fault.kind ? CAMKES_BLOCK_FAULT : CAMKES_BLOCK_REPLY,
          object->number);
}

void endpoint_send(struct thread *sender, struct object *object, const struct cap *cap,
                   bool blocking, bool call, bool donate)
{
    bool can_reply = cap->rights & (RIGHT_GRANT | RIGHT_GRANT_REPLY);
    if (object->endpoint.state == ENDPOINT_RECV) {
        struct thread *receiver = take_first(&object->endpoint);
        transfer(sender, receiver, cap->badge, object, cap->rights & RIGHT_GRANT);
        trace_transfer(sender, receiver, object);
        if (!kernel->mcs) {
            ready_make(receiver, sender);
        }
        if (call) {
            expect_reply(sender, receiver, object, can_reply, receiver->can_grant);
        } else if (donate && sender->context && !receiver->context) {
            budget_donate(sender->context, receiver, CAMKES_BIND_CALL);
        }
        if (kernel->mcs) { /* perhaps with the sender's time */
            reply_take(receiver);
            budget_unblock(receiver);
            ready_make(receiver, sender);
        }
    } else if (blocking) {
        sender->sent_badge = cap->badge; /* a fault may come before it has seen a message */
        sender->is_call = call;
        sender->can_grant_reply = can_reply;
        sender->can_grant = cap->rights & RIGHT_GRANT;
        ready_set_state(sender, THREAD_BLOCKED_SEND);
        wait_in(sender, object, ENDPOINT_SEND);
        TRACE(BLOCK, sender, NULL,
              sender->fault.kind ? CAMKES_BLOCK_FAULT
              : call             ? CAMKES_BLOCK_CALL
                                 : CAMKES_BLOCK_SEND,
              object->number);
    }
}

void endpoint_receive(struct thread *receiver, struct object *object, const struct cap *cap,
                      bool blocking)
{
    if (object->endpoint.state == ENDPOINT_SEND) {
        struct thread *sender = take_first(&object->endpoint);
        transfer(sender, receiver, sender->sent_badge, cap->object, sender->can_grant);
        trace_transfer(sender, receiver, object);
        if (kernel->mcs) {
            budget_unblock(sender);
        }
        if (sender->is_call) {
            expect_reply(sender, receiver, object, sender->can_grant_reply,
                         cap->rights & RIGHT_GRANT);
        } else {
            ready_make(sender, receiver);
        }
        sender->is_call = sender->can_grant_reply = sender->can_grant = false;
        sender->sent_badge = 0; /* is not read again: states would differ in it */
    } else if (blocking) {
        receiver->can_grant = cap->rights & RIGHT_GRANT;
        ready_set_state(receiver, THREAD_BLOCKED_RECV);
        wait_in(receiver, object, ENDPOINT_RECV);
        TRACE(BLOCK, receiver, NULL, CAMKES_BLOCK_RECV, object->number);
    } else {
        receiver->badge = 0;
    }
}

/* The Call whose reply a thread has got is made again: the badge of the reply, 0, is now where its
 * capability was, and there is none in that slot. */
static void call_again(struct thread *thread)
{
    thread->ipc->tag = seL4_MessageInfo_new(seL4_InvalidCapability, 0, 0, 0);
    thread->fault.after_reply = false;
}

/* A reply to a fault determines whether the thread continues: label 0, or any for a fault of memory
 * or a capability. One that ran out of time starts no other operation again. */
static bool end_fault(struct thread *sender, struct thread *receiver)
{
    const bool any =
        receiver->fault.label == seL4_Fault_CapFault || receiver->fault.label == seL4_Fault_VMFault;
    const bool resume = any || seL4_MessageInfo_get_label(sender->ipc->tag) == 0;
    receiver->redo = receiver->fault.kind != CAMKES_FAULT_TIMEOUT;
    receiver->fault.kind = 0;
    if (receiver->fault.after_reply) {
        call_again(receiver);
    }
    if (!resume) {
        ready_set_state(receiver, THREAD_INACTIVE);
    }
    return resume;
}

/* What is sent goes to a thread that waits for a reply. Whether that can run then. */
bool endpoint_answer(struct thread *sender, struct thread *receiver, bool grant)
{
    TRACE(REPLY, sender, receiver, seL4_MessageInfo_get_label(sender->ipc->tag),
          seL4_MessageInfo_get_length(sender->ipc->tag));
    if (receiver->fault.kind) {
        return end_fault(sender, receiver);
    }
    transfer(sender, receiver, 0, NULL, grant);
    return true;
}

/* `cap` is a reply capability; it is used up. */
void endpoint_reply(struct thread *sender, struct cap *cap)
{
    struct thread *receiver = cap->thread;
    const bool grant = cap->rights & RIGHT_GRANT;
    cap_clear(cap);
    if (endpoint_answer(sender, receiver, grant)) {
        ready_make(receiver, sender);
    }
}

/* Takes the thread out of the queue it waits in. */
void endpoint_cancel(struct thread *thread)
{
    struct endpoint *endpoint = &thread->waits_for->endpoint;
    queue_remove(&endpoint->queue, thread);
    if (!endpoint->queue.head) {
        endpoint->state = ENDPOINT_IDLE;
    }
    thread->waits_for = NULL;
}
