/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The operations on messages and notifications, as a thread calls them. */
#include "time/budget.h"
#include "entry/entry.h"
#include "isolation/faults.h"
#include "objects/operations.h"
#include "scheduling/scheduling.h"
#include "state.h"

/* Sending to what does not take it is an error, which only a call gets to see. */
static void refuse(struct thread *self, seL4_CPtr slot, bool call)
{
    cap_note(self, "nothing can be sent through this capability", slot);
    if (call) {
        self->ipc->msg[0] = 0;
        self->ipc->tag = seL4_MessageInfo_new(seL4_InvalidCapability, 0, 0, 1);
        self->badge = 0;
    }
}

/* `donate`: a receiver without time is given the sender's. */
void syscall_send(struct thread *self, seL4_CPtr dest, bool blocking, bool call, bool donate)
{
    struct cap *cap = cap_find(self, dest);
    if (!cap) {
        if (blocking) {
            fault_capability(self, dest, false);
        }
    } else if (cap->kind == OBJECT_ENDPOINT && cap->rights & RIGHT_WRITE) {
        endpoint_send(self, cap->object, cap, blocking, call, donate);
    } else if (cap->kind == OBJECT_NOTIFICATION && cap->rights & RIGHT_WRITE) {
        notification_signal(cap->object, cap->badge, self);
        if (call) {
            self->ipc->tag = seL4_MessageInfo_new(0, 0, 0, 0);
        }
    } else if (cap->kind == OBJECT_REPLY || cap->kind == OBJECT_REPLY_OBJECT) {
        if (cap->kind == OBJECT_REPLY) {
            endpoint_reply(self, cap);
        } else {
            timeout_reply(self, cap->object, cap->rights & RIGHT_GRANT);
        }
        if (call) {
            self->ipc->tag = seL4_MessageInfo_new(0, 0, 0, 0);
        }
    } else {
        refuse(self, dest, call);
    }
}

/* Returns whether there was nothing to receive. */
bool syscall_receive(struct thread *self, seL4_CPtr src, bool blocking)
{
    struct cap *cap = cap_find(self, src);
    if (cap && cap->kind == OBJECT_ENDPOINT && cap->rights & RIGHT_READ) {
        cap_clear(&self->caller);
        bool nothing = cap->object->endpoint.state != ENDPOINT_SEND;
        endpoint_receive(self, cap->object, cap, blocking);
        return nothing;
    }
    if (cap && cap->kind == OBJECT_NOTIFICATION && cap->rights & RIGHT_READ) {
        return !notification_wait(self, cap->object, blocking);
    }
    fault_capability(self, src, true);
    return false;
}

static void reply(struct thread *self)
{
    if (self->caller.kind == OBJECT_REPLY) {
        endpoint_reply(self, &self->caller);
    }
}

/* A value that is written before it is read: states of a search would differ in it. */
static void forget(seL4_Word *value)
{
    if (hooks.choose && value) {
        *value = 0;
    }
}

seL4_MessageInfo_t syscall_received(struct thread *self, seL4_Word *badge)
{
    if (badge) {
        *badge = self->badge;
    }
    forget(&self->badge);
    return self->ipc->tag;
}

seL4_MessageInfo_t seL4_Call(seL4_CPtr dest, seL4_MessageInfo_t info)
{
    cost_take(dest, COST_CALL);
    struct thread *self;
    do {
        self = kernel_enter(CAMKES_KCALL_CALL, dest);
        CALLED_FROM(self);
        self->ipc->tag = info;
        syscall_send(self, dest, true, true, true);
    } while (kernel_leave(self));
    return self->ipc->tag;
}

void seL4_Send(seL4_CPtr dest, seL4_MessageInfo_t info)
{
    struct thread *self;
    do {
        self = kernel_enter(CAMKES_KCALL_SEND, dest);
        CALLED_FROM(self);
        self->ipc->tag = info;
        syscall_send(self, dest, true, false, false);
    } while (kernel_leave(self));
}

void seL4_NBSend(seL4_CPtr dest, seL4_MessageInfo_t info)
{
    struct thread *self = kernel_enter(CAMKES_KCALL_NBSEND, dest);
    self->ipc->tag = info;
    syscall_send(self, dest, false, false, false);
    kernel_leave(self);
}

void seL4_Reply(seL4_MessageInfo_t info)
{
    struct thread *self = kernel_enter(CAMKES_KCALL_REPLY, seL4_CapNull);
    self->ipc->tag = info;
    reply(self);
    kernel_leave(self);
}

seL4_MessageInfo_t seL4_Recv(seL4_CPtr src, seL4_Word *badge)
{
    forget(badge);
    struct thread *self;
    do {
        self = kernel_enter(CAMKES_KCALL_RECV, src);
        CALLED_FROM(self);
        syscall_receive(self, src, true);
    } while (kernel_leave(self));
    cost_take(src, COST_RECEIVE);
    return syscall_received(self, badge);
}

seL4_MessageInfo_t seL4_ReplyRecv(seL4_CPtr src, seL4_MessageInfo_t info, seL4_Word *badge)
{
    forget(badge);
    cost_take(src, COST_REPLY);
    struct thread *self;
    do {
        self = kernel_enter(CAMKES_KCALL_REPLYRECV, src);
        CALLED_FROM(self);
        self->ipc->tag = info;
        reply(self);
        syscall_receive(self, src, true);
    } while (kernel_leave(self));
    cost_take(src, COST_RECEIVE);
    return syscall_received(self, badge);
}

/* Looking for what is not there takes time, or a loop of it would stop the clock. */
void syscall_look_in_vain(struct thread *self)
{
    static const uint64_t COST = 1000;
    work_consume(self, COST);
}

seL4_MessageInfo_t seL4_NBRecv(seL4_CPtr src, seL4_Word *badge)
{
    struct thread *self;
    do {
        self = kernel_enter(CAMKES_KCALL_NBRECV, src);
        CALLED_FROM(self);
        if (syscall_receive(self, src, false)) {
            syscall_look_in_vain(self);
        }
    } while (kernel_leave(self));
    return syscall_received(self, badge);
}

seL4_MessageInfo_t seL4_Poll(seL4_CPtr src, seL4_Word *badge)
{
    struct thread *self;
    do {
        self = kernel_enter(CAMKES_KCALL_POLL, src);
        CALLED_FROM(self);
        if (syscall_receive(self, src, false)) {
            syscall_look_in_vain(self);
        }
    } while (kernel_leave(self));
    return syscall_received(self, badge);
}

void seL4_Signal(seL4_CPtr dest)
{
    struct thread *self;
    do {
        self = kernel_enter(CAMKES_KCALL_SIGNAL, dest);
        CALLED_FROM(self);
        self->ipc->tag = seL4_MessageInfo_new(0, 0, 0, 0);
        syscall_send(self, dest, true, false, false);
    } while (kernel_leave(self));
}

void seL4_Wait(seL4_CPtr src, seL4_Word *badge)
{
    forget(badge);
    struct thread *self;
    do {
        self = kernel_enter(CAMKES_KCALL_WAIT, src);
        CALLED_FROM(self);
        syscall_receive(self, src, true);
    } while (kernel_leave(self));
    cost_take(src, COST_RECEIVE);
    syscall_received(self, badge);
}

void seL4_Yield(void)
{
    struct thread *self = kernel_enter(CAMKES_KCALL_YIELD, seL4_CapNull);
    if (kernel->mcs) {
        timeout_yield(self);
    } else {
        ready_append(self);
        ready_again();
    }
    kernel_leave(self);
}

seL4_IPCBuffer *seL4_GetIPCBuffer(void)
{
    return process.loaded ? process.loaded->ipc : NULL;
}
