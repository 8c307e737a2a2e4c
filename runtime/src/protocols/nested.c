/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Requests, and propagation of an inherited priority along a nested request, by worker and manager.
 */
#include "nested.h"

#include <camkes/error.h>
#include <camkes/label.h>

void camkes_manager_failed(const char *cpi)
{
    camkes_fail("the manager of %s refused what thread %s asked it for", cpi, camkes_self()->name);
}

void camkes_ask_manager(seL4_CPtr manager, seL4_Word label, const char *cpi)
{
    if (camkes_platform_call(manager, label) != CAMKES_MESSAGE_GOOD) {
        camkes_manager_failed(cpi);
    }
}

void camkes_nested_push(struct camkes_context *context, uint8_t priority)
{
    /*
     * `pushed` is written before `nested` is read again, and the worker writes `nested` before it
     * reads `pushed`: either this function sees that the request is over, or the worker sees that
     * it must clear the update that is sent now.
     */
    for (;;) {
        const uintptr_t mark = atomic_load(&context->nested);
        camkes_point();
        if (mark == 0) {
            return;
        }
        atomic_store(&context->pushed, mark);
        camkes_point();
        if (atomic_load(&context->nested) == mark) {
            camkes_point();
            camkes_ask_manager(
                camkes_mark_manager(mark),
                camkes_operation_label(CAMKES_UPDATE, priority, atomic_load(&context->cause)),
                "a nested request");
            return;
        }
    }
}

/* Before a nested request: returns whether an inherited priority was sent to its CPI. */
static bool enter(struct camkes_context *context, const struct camkes_uses *to, seL4_CPtr manager,
                  uintptr_t mark)
{
    atomic_store(&context->nested, mark);
    camkes_point();
    const uint8_t priority = atomic_load(&context->effective);
    if (priority <= context->base) {
        return false;
    }
    camkes_ask_manager(
        manager, camkes_operation_label(CAMKES_UPDATE, priority, atomic_load(&context->cause)),
        to->name);
    return true;
}

/* After a nested request. */
static void leave(struct camkes_context *context, const struct camkes_uses *to, seL4_CPtr manager,
                  uintptr_t mark, bool told)
{
    camkes_point();
    atomic_store(&context->nested, 0);
    camkes_point();
    if (atomic_load(&context->pushed) == mark) {
        /* The manager of this CPI may still be about to send the update. */
        camkes_ask_manager(context->manager_as_worker, camkes_operation_label(CAMKES_SETTLE, 0, 0),
                           camkes_self()->cpi->name);
        told = true;
    }
    if (told) {
        camkes_ask_manager(manager, camkes_operation_label(CAMKES_CLEAR, 0, 0), to->name);
    }
    camkes_point();
}

/* The effective priority of the thread's work. */
static uint8_t own_priority(const struct camkes_thread *self)
{
    return self->context != NULL ? atomic_load(&self->context->effective) : self->priority;
}

seL4_MessageInfo_t camkes_request(const struct camkes_uses *to, unsigned words)
{
    struct camkes_thread *self = camkes_self();
    const struct camkes_route route =
        self->route < CAMKES_NO_ROUTE ? to->route[self->route] : (struct camkes_route){0, 0};
    if (route.endpoint == 0) {
        camkes_fail(
            "thread %s cannot request %s: it does not work for a task that the plan lets there",
            self->name, to->name);
    }
    struct camkes_context *context = route.manager != 0 ? self->context : NULL;
    const uintptr_t mark = camkes_mark(route.manager, ++self->sequence);
    CAMKES_TRACE(CALL_BEGIN, to->cpi, self->origin, own_priority(self));
    const bool told = context != NULL && enter(context, to, route.manager, mark);
    camkes_point();
    const struct camkes_request_label label = {
        .priority = own_priority(self),
        .task = self->task_id,
        .sequence = (uint16_t)self->sequence,
    };
    const seL4_MessageInfo_t reply =
        seL4_Call(route.endpoint, seL4_MessageInfo_new(camkes_request_label(label), 0, 0, words));
    CAMKES_TRACE(CALL_END, to->cpi, self->origin);
    if (context != NULL) {
        leave(context, to, route.manager, mark, told);
    }
    return reply;
}
