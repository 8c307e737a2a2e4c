/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Propagation of an inherited priority along a nested request, by worker and manager. */
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

seL4_CPtr camkes_nested_found(struct camkes_context *context)
{
    /*
     * `pushed` is written before `nested` is read again, and the worker writes `nested` before it
     * reads `pushed`: either this function sees that the request is over, or the worker sees that
     * it must clear the update that is sent now. `pushing` is written before both.
     */
    atomic_store(&context->pushing, true);
    camkes_point();
    for (;;) {
        const seL4_CPtr manager = atomic_load(&context->nested);
        camkes_point();
        if (manager == 0) {
            return 0;
        }
        atomic_store(&context->pushed, manager);
        camkes_point();
        if (atomic_load(&context->nested) == manager) {
            return manager;
        }
    }
}

seL4_Word camkes_nested_update(const struct camkes_context *context)
{
#if CAMKES_MCS
    const bool pays = atomic_load(&context->pays);
#else
    const bool pays = true;
#endif
    return camkes_operation_label(pays ? CAMKES_UPDATE : CAMKES_RAISE,
                                  atomic_load(&context->effective), atomic_load(&context->cause));
}

static void push(struct camkes_context *context, seL4_Word label)
{
    const seL4_CPtr manager = camkes_nested_found(context);
    if (manager != 0) {
        camkes_point();
        camkes_ask_manager(manager, label, "a nested request");
    }
    camkes_point();
    atomic_store(&context->pushing, false);
}

void camkes_nested_push(struct camkes_context *context)
{
    push(context, camkes_nested_update(context));
}

void camkes_nested_tell(struct camkes_context *context, uint8_t priority, uint16_t cause)
{
    push(context, camkes_operation_label(CAMKES_UPDATE, priority, cause));
}

/*
 * The manager of this CPI may still be about to send the update. When it is not pushing, or has
 * replied, it is not, and does not write `pushed` before the next nested request.
 */
static void settle(struct camkes_thread *self)
{
    struct camkes_context *context = self->context;
    if (atomic_load(&context->pushing)) {
        if (self->cpi != NULL) {
            camkes_ask_own_manager(self->cpi, context, CAMKES_SETTLE);
        } else { /* a task that helps */
            camkes_ask_manager(context->manager_as_worker,
                               camkes_operation_label(CAMKES_SETTLE, 0, 0), context->name);
        }
    }
    camkes_point();
    atomic_store(&context->pushed, 0);
}

static void clear(const struct camkes_uses *to, const struct camkes_route *route)
{
    camkes_ask_manager(route->manager, camkes_operation_label(CAMKES_CLEAR, 0, 0), to->name);
}

seL4_MessageInfo_t camkes_request_raised(const struct camkes_uses *to,
                                         const struct camkes_route *route, unsigned words)
{
    struct camkes_thread *self = camkes_self();
    struct camkes_context *context = self->context;
    camkes_ask_manager(route->manager, camkes_nested_update(context), to->name);
#if CAMKES_MCS
    const struct camkes_cpi *cpi = self->cpi;
    if (cpi != NULL && !cpi->grouped && (cpi->lends || cpi->lent)) { /* several can pay there */
        camkes_ask_own_manager(self->cpi, context, CAMKES_TELL);
    }
#endif
    camkes_point();
    const seL4_Word label = camkes_own_label(self, to, context);
    const seL4_MessageInfo_t reply = camkes_call(route->endpoint, label, NULL, words);
    CAMKES_TRACE(CALL_END, to->cpi, self->origin);
    camkes_point();
    atomic_store(&context->nested, 0);
    camkes_point();
    if (atomic_load(&context->pushed) == route->manager) {
        settle(self);
    }
    clear(to, route);
    camkes_point();
    return reply;
}

seL4_MessageInfo_t camkes_request_pushed(const struct camkes_uses *to, seL4_MessageInfo_t reply)
{
    struct camkes_thread *self = camkes_self();
    settle(self);
    clear(to, camkes_route(self, to));
    return reply;
}

void camkes_request_abandoned(void)
{
    struct camkes_thread *self = camkes_self();
    if (self->context == NULL) {
        return;
    }
    const seL4_CPtr manager = atomic_exchange(&self->context->nested, 0);
    camkes_point();
    if (manager != 0) {
        settle(self);
        camkes_ask_manager(manager, camkes_operation_label(CAMKES_CLEAR, 0, 0), self->name);
    }
}

void camkes_nested_abandon(struct camkes_context *context)
{
    const seL4_CPtr nested = atomic_exchange(&context->nested, 0);
    const seL4_CPtr pushed = atomic_exchange(&context->pushed, 0);
    if (nested != 0 || pushed != 0) {
        camkes_ask_manager(nested != 0 ? nested : pushed,
                           camkes_operation_label(CAMKES_CLEAR, 0, 0), context->name);
    }
}

seL4_Word camkes_no_route(const struct camkes_uses *to)
{
    camkes_fail("thread %s cannot request %s: it does not work for a task that the plan lets there",
                camkes_self()->name, to->name);
}
