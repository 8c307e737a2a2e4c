/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The operations on messages that are others on an MCS kernel: who receives has a reply object. */
#define CONFIG_KERNEL_MCS 1
#include "time/budget.h"
#include "entry/entry.h"
#include "isolation/faults.h"
#include "objects/operations.h"
#include "record/output.h"

/* False: that is a fault. */
static bool take_reply_object(struct thread *self, seL4_CPtr slot)
{
    const struct cap *cap = cap_find(self, slot);
    if (!cap || cap->kind != OBJECT_REPLY_OBJECT) {
        fault_capability(self, slot, true);
        return false;
    }
    struct thread *other = cap->object->reply.thread;
    if (other) { /* a call that will never be answered */
        cap_note(self, "received with a reply object that a call still waits for", slot);
        tcb_cancel(other);
        TRACE(BLOCK, other, self, CAMKES_BLOCK_SUSPENDED, cap->object->number);
    }
    reply_receive_with(self, cap->object);
    return true;
}

/* Returns whether there was nothing to receive. */
static bool receive(struct thread *self, seL4_CPtr src, seL4_CPtr reply, bool blocking)
{
    const struct cap *cap = cap_find(self, src);
    const bool messages = cap && cap->kind == OBJECT_ENDPOINT && cap->rights & RIGHT_READ;
    if (messages && !take_reply_object(self, reply)) {
        return false;
    }
    const bool nothing = syscall_receive(self, src, blocking);
    if (messages && self->state == THREAD_RUNNING) {
        reply_take(self);
    }
    return nothing;
}

seL4_MessageInfo_t seL4_Recv(seL4_CPtr src, seL4_Word *badge, seL4_CPtr reply)
{
    struct thread *self;
    do {
        self = kernel_enter(CAMKES_KCALL_RECV, src);
        CALLED_FROM(self);
        receive(self, src, reply, true);
    } while (kernel_leave(self));
    cost_take(src, COST_RECEIVE);
    return syscall_received(self, badge);
}

seL4_MessageInfo_t seL4_NBRecv(seL4_CPtr src, seL4_Word *badge, seL4_CPtr reply)
{
    struct thread *self;
    do {
        self = kernel_enter(CAMKES_KCALL_NBRECV, src);
        CALLED_FROM(self);
        if (receive(self, src, reply, false)) {
            syscall_look_in_vain(self);
        }
    } while (kernel_leave(self));
    return syscall_received(self, badge);
}

seL4_MessageInfo_t seL4_ReplyRecv(seL4_CPtr src, seL4_MessageInfo_t info, seL4_Word *badge,
                                  seL4_CPtr reply)
{
    cost_take(src, COST_REPLY);
    struct thread *self;
    do {
        self = kernel_enter(CAMKES_KCALL_REPLYRECV, src);
        CALLED_FROM(self);
        self->ipc->tag = info;
        syscall_send(self, reply, false, false, true);
        receive(self, src, reply, true);
    } while (kernel_leave(self));
    cost_take(src, COST_RECEIVE);
    return syscall_received(self, badge);
}

seL4_MessageInfo_t seL4_NBSendRecv(seL4_CPtr dest, seL4_MessageInfo_t info, seL4_CPtr src,
                                   seL4_Word *badge, seL4_CPtr reply)
{
    struct thread *self;
    do {
        self = kernel_enter(CAMKES_KCALL_NBSENDRECV, dest);
        CALLED_FROM(self);
        self->ipc->tag = info;
        syscall_send(self, dest, false, false, true);
        receive(self, src, reply, true);
    } while (kernel_leave(self));
    return syscall_received(self, badge);
}

seL4_MessageInfo_t seL4_NBSendWait(seL4_CPtr dest, seL4_MessageInfo_t info, seL4_CPtr src,
                                   seL4_Word *badge)
{
    struct thread *self;
    do {
        self = kernel_enter(CAMKES_KCALL_NBSENDWAIT, dest);
        CALLED_FROM(self);
        self->ipc->tag = info;
        syscall_send(self, dest, false, false, true);
        syscall_receive(self, src, true);
    } while (kernel_leave(self));
    return syscall_received(self, badge);
}

seL4_MessageInfo_t seL4_Wait(seL4_CPtr src, seL4_Word *badge)
{
    struct thread *self;
    do {
        self = kernel_enter(CAMKES_KCALL_WAIT, src);
        CALLED_FROM(self);
        syscall_receive(self, src, true);
    } while (kernel_leave(self));
    cost_take(src, COST_RECEIVE);
    return syscall_received(self, badge);
}

seL4_MessageInfo_t seL4_NBWait(seL4_CPtr src, seL4_Word *badge)
{
    return seL4_Poll(src, badge);
}
