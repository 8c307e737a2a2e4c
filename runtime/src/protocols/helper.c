/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * The manager of a task that helps, or that a scheduler at user level orders: the only thread that
 * changes the priority of its control thread, as the manager of its group or the scheduler decides.
 */
#include "nested.h"

#include <camkes/condition.h>
#include <camkes/error.h>
#include <camkes/label.h>

static unsigned set_priority(const struct camkes_helper *helper, uint8_t priority, uint16_t cause,
                             seL4_Word *nested)
{
    struct camkes_context *context = helper->context;
    const struct camkes_thread *control = atomic_load(&context->worker);
    const uint8_t before = atomic_load(&context->effective);
    const uint8_t effective = priority < context->base ? context->base : priority;
    if (priority > helper->highest || priority < helper->lowest) {
        return CAMKES_MESSAGE_PRIORITY;
    }
    atomic_store(&context->cause, cause);
    atomic_store(&context->effective, effective);
    if (!helper->scheduled) {
        CAMKES_TRACE_ABOUT(LEND, control->number, context->id, before, priority, cause);
    }
    const seL4_Error error = seL4_TCB_SetPriority(control->tcb, helper->authority, priority);
    if (error != seL4_NoError) {
        camkes_fail("thread %s cannot be set to priority %u: kernel error %d", control->name,
                    priority, (int)error);
    }
    camkes_point();
    if (effective > before && helper->scheduled) {
        camkes_nested_push(context);
    } else if (effective > before) {
        *nested = camkes_nested_found(context);
    }
    return CAMKES_MESSAGE_GOOD;
}

static unsigned step(const struct camkes_helper *helper, seL4_Word label, seL4_Word *nested)
{
    switch (camkes_bits(label, 0, 4)) {
    case CAMKES_SET_PRIORITY:
        return set_priority(helper, (uint8_t)camkes_bits(label, 4, 8),
                            (uint16_t)camkes_bits(label, 12, CAMKES_LABEL_DETAIL_BITS), nested);
    case CAMKES_FIND_NESTED:
        *nested = camkes_nested_found(helper->context);
        return CAMKES_MESSAGE_GOOD;
    case CAMKES_SETTLE:
        return CAMKES_MESSAGE_GOOD; /* earlier updates have been sent by now */
    default:
        return CAMKES_MESSAGE_OPERATION;
    }
}

void camkes_manage_helper(struct camkes_thread *self)
{
    const struct camkes_helper *helper = self->interface;
    seL4_Word badge = 0;
    seL4_MessageInfo_t info = camkes_platform_receive(helper->manager, &badge);
    for (;;) {
        seL4_Word nested = 0;
        const unsigned error = step(helper, seL4_MessageInfo_get_label(info), &nested);
        seL4_SetMR(0, nested);
        info = camkes_platform_reply_receive(helper->manager, seL4_MessageInfo_new(error, 0, 0, 1),
                                             &badge);
    }
}
