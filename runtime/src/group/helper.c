/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * The manager of a task that helps, or that a scheduler at user level orders: the only thread that
 * changes the priority of its control thread, as the manager of its group or the scheduler decides.
 */
#include "../core/fatal.h"
#include "../core/nested.h"

#include <camkes/condition.h>
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
    camkes_set_priority(control, helper->authority, priority);
    camkes_point();
    if (effective > before && helper->scheduled) {
        camkes_nested_push(context);
    } else if (effective > before) {
        *nested = camkes_nested_found(context);
    }
    return CAMKES_MESSAGE_GOOD;
}

/* From the control thread. */
static unsigned step_of_control(seL4_Word label)
{
    enum camkes_worker_operation operation;
    if (!camkes_worker_read(label, &operation)) {
        return CAMKES_MESSAGE_OPERATION;
    }
    /* not covered: each operation has a case */
    switch (operation) {
    case CAMKES_SETTLE:
        return CAMKES_MESSAGE_GOOD; /* earlier updates have been sent by now */
    case CAMKES_ACQUIRE_LOCK:
    case CAMKES_RELEASE_LOCK:
    case CAMKES_BEGIN_REQUEST:
    case CAMKES_END_REQUEST:
    case CAMKES_TELL:
        return CAMKES_MESSAGE_OPERATION;
    }
    CAMKES_UNREACHABLE();
}

/* From the manager of the group, or the scheduler. */
static unsigned step_of_member(const struct camkes_helper *helper, seL4_Word label,
                               seL4_Word *nested)
{
    enum camkes_member_operation operation;
    if (!camkes_member_read(label, &operation)) {
        return CAMKES_MESSAGE_OPERATION;
    }
    /* not covered: each operation has a case */
    switch (operation) {
    case CAMKES_SET_PRIORITY:
        return set_priority(helper, camkes_label_priority(label), camkes_label_detail(label),
                            nested);
    case CAMKES_FIND_NESTED:
        *nested = camkes_nested_found(helper->context);
        return CAMKES_MESSAGE_GOOD;
    case CAMKES_MEMBER_BEGIN:
    case CAMKES_MEMBER_END:
    case CAMKES_TAKE_LOCK:
    case CAMKES_GIVE_LOCK:
    case CAMKES_FREE_LOCK:
    case CAMKES_GRANTED:
        return CAMKES_MESSAGE_OPERATION; /* a task has no lock */
    }
    CAMKES_UNREACHABLE();
}

void camkes_manage_helper(struct camkes_thread *self)
{
    const struct camkes_helper *helper = self->interface;
    seL4_Word badge = 0;
    seL4_MessageInfo_t info = camkes_platform_receive(helper->manager, &badge);
    for (;;) {
        seL4_Word nested = 0;
        const seL4_Word label = seL4_MessageInfo_get_label(info);
        const unsigned error = badge == CAMKES_BADGE_CONTROL
                                   ? step_of_control(label)
                                   : step_of_member(helper, label, &nested);
        seL4_SetMR(0, nested);
        info = camkes_platform_reply_receive(helper->manager, seL4_MessageInfo_new(error, 0, 0, 1),
                                             &badge);
    }
}
