/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* What operations take of their thread's time, as the lines `cost` of the boot table state. */
#include "entry/entry.h"
#include "objects/operations.h"
#include "scheduling/scheduling.h"
#include "state.h"

static uint64_t cost_of(const struct thread *self, const struct object *object, enum cost part)
{
    if (!object->costs) {
        return 0;
    }
    switch (part) {
    case COST_CALL:
        return object->costs->call;
    case COST_REPLY:
        return object->costs->reply;
    default:
        return object->costs
            ->received[object->kind == OBJECT_NOTIFICATION
                           ? 0
                           : seL4_MessageInfo_get_label(self->ipc->tag) % COST_OPERATIONS];
    }
}

void cost_charge(seL4_CPtr slot, enum cost part)
{
    struct thread *self = kernel_enter_quietly();
    const struct cap *cap = cap_find(self, slot);
    const bool has = cap && (cap->kind == OBJECT_ENDPOINT || cap->kind == OBJECT_NOTIFICATION);
    work_consume(self, has ? cost_of(self, cap->object, part) : 0);
    kernel_leave(self);
}
