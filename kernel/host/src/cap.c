/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Capability spaces: one array of slots an address space. */
#include "kernel.h"

struct cap *cap_find(struct thread *thread, seL4_CPtr slot)
{
    struct space *space = thread->space;
    return slot < space->slot_count ? &space->slots[slot] : NULL;
}

/* For the trace: the number of the object behind a slot. */
unsigned cap_object_number(struct thread *thread, seL4_CPtr slot)
{
    struct cap *cap = cap_find(thread, slot);
    return cap && cap->kind != OBJECT_NOTHING && cap->kind != OBJECT_REPLY ? cap->object->number
                                                                           : NONE;
}

void cap_clear(struct cap *cap)
{
    if (cap->kind == OBJECT_REPLY) {
        cap->thread->reply_slot = NULL;
    }
    *cap = (struct cap){.kind = OBJECT_NOTHING};
}

void cap_move_reply(struct cap *to, struct cap *from)
{
    *to = *from;
    to->thread->reply_slot = to;
    *from = (struct cap){.kind = OBJECT_NOTHING};
}

/* A remark on a misuse that seL4 answers with an error only, or not at all; not for ever. */
void cap_note(struct thread *thread, const char *what, seL4_CPtr slot)
{
    enum { ENOUGH = 8 };
    struct message message = {0};
    if (thread->notes++ >= ENOUGH) {
        return;
    }
    message_add(&message, "note: %.300s: thread %.300s: %s (slot %lu)\n", thread->instance,
                thread->tcb->name, what, (unsigned long)slot);
    stream_put(&kernel->messages, message.text, message.length);
}

static seL4_Error find_slot(struct thread *self, seL4_CNode root, seL4_Word slot, seL4_Uint8 depth,
                            struct cap **found)
{
    struct cap *cnode = cap_find(self, root);
    if (root != seL4_CapNull && (!cnode || cnode->kind != OBJECT_CNODE)) {
        cap_note(self, "operation on a slot of what is no capability space", root);
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
