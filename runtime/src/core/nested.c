/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Propagation of an inherited priority along a nested request, by worker and manager. */
#include "nested.h"

#include <camkes/error.h>
#include <camkes/label.h>

/* Inlined: it is on the path of every contended request. */
CAMKES_INLINE_HERE seL4_CPtr found(struct camkes_context *context)
{
    /*
     * `pushed` is written before `nested` is read again, and the worker writes `nested` before it
     * reads `pushed`: either this function sees that the request is over, or the worker sees that
     * it must clear the update that is sent now. `pushing` is written before both.
     */
    atomic_store(&context->pushing, true);
    camkes_point();
    /* at most 1 time: the manager is above the worker, which writes `nested` */
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

seL4_CPtr camkes_nested_found(struct camkes_context *context)
{
    return found(context);
}

seL4_Word camkes_nested_update(const struct camkes_context *context)
{
#if CAMKES_MCS
    const bool paid = atomic_load(&context->paid);
#else
    const bool paid = true;
#endif
    return camkes_caller_label(paid ? CAMKES_UPDATE : CAMKES_RAISE,
                               atomic_load(&context->effective), atomic_load(&context->cause));
}

/* To the manager that camkes_nested_found() returned, 0: none. */
static inline void push(struct camkes_context *context, seL4_CPtr manager, seL4_Word label)
{
    if (manager != 0) {
        camkes_ask_manager_here(manager, label, "a nested request");
    }
    atomic_store(&context->pushing, false);
}

void camkes_nested_push(struct camkes_context *context)
{
    const seL4_CPtr manager = found(context);
    push(context, manager, manager != 0 ? camkes_nested_update(context) : 0);
}

void camkes_nested_lower(struct camkes_context *context)
{
    push(context, camkes_nested_found(context),
         camkes_caller_label(CAMKES_FALL, atomic_load(&context->effective),
                             atomic_load(&context->cause)));
}

void camkes_nested_tell(struct camkes_context *context, uint8_t priority, uint16_t cause)
{
    push(context, camkes_nested_found(context),
         camkes_caller_label(CAMKES_UPDATE, priority, cause));
}

/* Between a message to the manager of a nested request and CAMKES_CLEAR. */
static void set_raised(struct camkes_context *context, seL4_CPtr manager)
{
#if CAMKES_MCS
    atomic_store(&context->raised, manager);
#else
    (void)context;
    (void)manager;
#endif
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
            camkes_ask_manager_here(context->manager_as_worker,
                                    camkes_worker_label(CAMKES_SETTLE, 0, 0), context->name);
        }
    }
    camkes_point();
    atomic_store(&context->pushed, 0);
}

static void clear(struct camkes_context *context, seL4_CPtr manager, const char *name, bool aborted)
{
    camkes_ask_manager_here(manager, camkes_caller_label(CAMKES_CLEAR, 0, aborted), name);
    set_raised(context, 0);
}

seL4_MessageInfo_t camkes_request_raised(const struct camkes_uses *to,
                                         const struct camkes_route *route, seL4_Word method,
                                         unsigned words)
{
    struct camkes_thread *self = camkes_self();
    struct camkes_context *context = self->context;
    set_raised(context, route->manager);
    camkes_ask_manager_here(route->manager, camkes_nested_update(context), to->name);
#if CAMKES_MCS
    const struct camkes_cpi *cpi = self->cpi;
    if (cpi != NULL && !cpi->grouped && (cpi->lends || cpi->lent)) { /* several can pay there */
        camkes_ask_own_manager(self->cpi, context, CAMKES_TELL);
    }
#endif
    const seL4_Word label = camkes_own_label(self, to, context) | method;
    const seL4_MessageInfo_t reply = camkes_call(route->endpoint, label, NULL, words);
    CAMKES_TRACE(CALL_END, to->cpi, self->origin);
    atomic_store(&context->nested, 0);
    camkes_point();
    if (atomic_load(&context->pushed) == route->manager) {
        settle(self);
    }
    clear(context, route->manager, to->name, false);
    return reply;
}

seL4_MessageInfo_t camkes_request_pushed(const struct camkes_uses *to, seL4_MessageInfo_t reply)
{
    struct camkes_thread *self = camkes_self();
    const seL4_CPtr manager = camkes_route(self, to)->manager;
    set_raised(self->context, manager); /* `pushed` does not tell any more */
    settle(self);
    clear(self->context, manager, to->name, false);
    return reply;
}

#if CAMKES_MCS
/* The manager that is to learn that the nested request of a context has ended, 0: none. */
static seL4_CPtr nested_manager(const struct camkes_context *context)
{
    const seL4_CPtr nested = atomic_load(&context->nested);
    const seL4_CPtr raised = atomic_load(&context->raised);
    return nested != 0 ? nested : raised != 0 ? raised : atomic_load(&context->pushed);
}

void camkes_request_abandoned(void)
{
    struct camkes_thread *self = camkes_self();
    struct camkes_context *context = self->context;
    const seL4_CPtr manager = context != NULL ? nested_manager(context) : 0;
    if (manager != 0) {
        set_raised(context, manager);
        atomic_store(&context->nested, 0);
        camkes_point();
        settle(self);
        clear(context, manager, self->name, true);
    }
}

void camkes_nested_abandon(struct camkes_context *context)
{
    const seL4_CPtr manager = nested_manager(context);
    atomic_store(&context->nested, 0);
    atomic_store(&context->pushed, 0);
    if (manager != 0) {
        clear(context, manager, context->name, true);
    }
}
#endif

seL4_Word camkes_no_route(const struct camkes_uses *to)
{
    camkes_fail("thread %s cannot request %s: it does not work for a task that the plan lets there",
                camkes_self()->name, to->name);
}
