/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * The manager of a task that helps: the only thread that changes the priority of its control
 * thread. The effective priority is the maximum of the task's own and of what conditions lend; a
 * change is sent to the manager of what the task requests or waits for.
 */
#include "nested.h"

#include <camkes/condition.h>
#include <camkes/error.h>
#include <camkes/label.h>

static void set_effective(const struct camkes_helper *helper, uint8_t priority, uint16_t cause)
{
    struct camkes_context *context = helper->context;
    const struct camkes_thread *control = atomic_load(&context->worker);
    const uint8_t before = atomic_load(&context->effective);
    if (priority == before) {
        return;
    }
    atomic_store(&context->cause, cause);
    atomic_store(&context->effective, priority);
    CAMKES_TRACE_ABOUT(LEND, control->number, context->id, before, priority, cause);
    camkes_point();
    const seL4_Error error = seL4_TCB_SetPriority(control->tcb, helper->authority, priority);
    if (error != seL4_NoError) {
        camkes_fail("thread %s cannot be set to priority %u: kernel error %d", control->name,
                    priority, (int)error);
    }
    camkes_point();
    camkes_nested_push(context, before, priority);
}

static unsigned lend(const struct camkes_helper *helper, uint16_t condition, seL4_Word label)
{
    const uint8_t priority = (uint8_t)camkes_bits(label, 4, 8);
    if (priority > helper->highest) {
        return CAMKES_MESSAGE_PRIORITY;
    }
    helper->lent[condition] = priority;
    uint8_t highest = helper->context->base;
    for (unsigned i = 0; i < helper->conditions; i++) {
        highest = helper->lent[i] > highest ? helper->lent[i] : highest;
    }
    set_effective(helper, highest, (uint16_t)camkes_bits(label, 12, CAMKES_LABEL_DETAIL_BITS));
    return CAMKES_MESSAGE_GOOD;
}

/* Badges from 1 up are conditions, the next one is the control thread. */
static unsigned step(const struct camkes_helper *helper, seL4_Word badge, seL4_MessageInfo_t info)
{
    const seL4_Word label = seL4_MessageInfo_get_label(info);
    const seL4_Word operation = camkes_bits(label, 0, 4);
    if (badge == (seL4_Word)helper->conditions + 1) {
        return operation == CAMKES_SETTLE ? CAMKES_MESSAGE_GOOD : CAMKES_MESSAGE_OPERATION;
    }
    if (badge == 0 || badge > helper->conditions) {
        return CAMKES_MESSAGE_BADGE;
    }
    return operation == CAMKES_LEND ? lend(helper, (uint16_t)(badge - 1), label)
                                    : CAMKES_MESSAGE_OPERATION;
}

void camkes_manage_helper(struct camkes_thread *self)
{
    const struct camkes_helper *helper = self->interface;
    seL4_Word badge = 0;
    seL4_MessageInfo_t info = camkes_platform_receive(helper->manager, &badge);
    for (;;) {
        const unsigned error = step(helper, badge, info);
        camkes_point();
        info = camkes_platform_reply_receive(helper->manager, seL4_MessageInfo_new(error, 0, 0, 0),
                                             &badge);
    }
}
