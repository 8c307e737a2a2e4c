/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Capability spaces: one array of slots an address space. */
#include "objects/operations.h"
#include "record/output.h"
#include "state.h"

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
    if (hooks.choose || thread->notes++ >= ENOUGH) {
        return;
    }
    message_add(&message, "note: %.300s: thread %.300s: %s (slot %lu)\n", thread->instance,
                thread->tcb->name, what, (unsigned long)slot);
    stream_put(&kernel->messages, message.text, message.length);
}
