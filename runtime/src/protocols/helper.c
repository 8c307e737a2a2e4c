/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * The manager of a task that helps: the only thread that changes the priority of its control
 * thread, as the manager of its group decides.
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
    if (priority > helper->highest || priority < context->base) {
        return CAMKES_MESSAGE_PRIORITY;
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
    *nested = priority > before ? camkes_nested_found(context) : 0;
    return CAMKES_MESSAGE_GOOD;
}

void camkes_manage_helper(struct camkes_thread *self)
{
    const struct camkes_helper *helper = self->interface;
    seL4_Word badge = 0;
    seL4_MessageInfo_t info = camkes_platform_receive(helper->manager, &badge);
    for (;;) {
        const seL4_Word label = seL4_MessageInfo_get_label(info);
        seL4_Word nested = 0;
        const unsigned error =
            camkes_bits(label, 0, 4) != CAMKES_SET_PRIORITY
                ? CAMKES_MESSAGE_OPERATION
                : set_priority(helper, (uint8_t)camkes_bits(label, 4, 8),
                               (uint16_t)camkes_bits(label, 12, CAMKES_LABEL_DETAIL_BITS), &nested);
        camkes_point();
        seL4_SetMR(0, nested);
        info = camkes_platform_reply_receive(helper->manager, seL4_MessageInfo_new(error, 0, 0, 1),
                                             &badge);
    }
}
