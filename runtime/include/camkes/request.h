/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Requests, as callers make them. What is not on the path of every request is in
 * src/core/nested.c. Where generated code has constants of an interface, they are folded in.
 */
#pragma once

#include <camkes/cpi.h>
#include <camkes/criticality.h>
#include <camkes/label.h>

/* A nested request, which is in the IPC buffer, of a context that has an inherited priority. */
seL4_MessageInfo_t camkes_request_raised(const struct camkes_uses *to,
                                         const struct camkes_route *route, seL4_Word method,
                                         unsigned words);
/* After a nested request whose context has got one meanwhile; returns its reply, which is in the
 * IPC buffer. */
seL4_MessageInfo_t camkes_request_pushed(const struct camkes_uses *to, seL4_MessageInfo_t reply);

/* Ends the thread, which has no route to the CPI. Not declared so, for CAMKES_FAIL(). */
seL4_Word camkes_no_route(const struct camkes_uses *to);

/* The effective priority of work for a context, or of a thread without one. */
CAMKES_INLINE uint8_t camkes_priority_of(const struct camkes_thread *self,
                                         const struct camkes_context *context)
{
    if (context != NULL) {
        return atomic_load(&context->effective);
    }
#if CAMKES_MCS
    if (self->priorities != NULL) {
        return self->priorities[camkes_level()];
    }
#endif
    return self->priority;
}

/* The effective priority of the thread's work. */
static inline uint8_t camkes_own_priority(const struct camkes_thread *self)
{
    return camkes_priority_of(self, self->context);
}

/* The label of the thread's next request; `context` is the thread's. Its number is for traces. */
CAMKES_INLINE seL4_Word camkes_own_label(const struct camkes_thread *self,
                                         const struct camkes_uses *to,
                                         const struct camkes_context *context)
{
    const unsigned sequence = CAMKES_LABEL_PRIORITY_BITS + CAMKES_LABEL_TASK_BITS;
    const seL4_Word tasks = (((seL4_Word)1 << CAMKES_LABEL_TASK_BITS) - 1)
                            << CAMKES_LABEL_PRIORITY_BITS;
    seL4_Word label = to->label;
    if (label == 0) {
        label = (self->label & tasks) | camkes_priority_of(self, context);
    }
    return !CAMKES_TRACING
               ? label
               : label | camkes_bits(self->sequence, 0, CAMKES_LABEL_SEQUENCE_BITS) << sequence;
}

/* The running thread's way to the CPI, if it has one. */
CAMKES_INLINE const struct camkes_route *camkes_route(const struct camkes_thread *self,
                                                      const struct camkes_uses *to)
{
    return &to->route[to->one_route ? 0 : self->route];
}

CAMKES_INLINE bool camkes_has_route(const struct camkes_uses *to)
{
    const struct camkes_thread *const self = camkes_self();
    return CAMKES_LIKELY((to->one_route ? 0 : self->route) < to->routes &&
                         camkes_route(self, to)->endpoint != 0);
}

/* Sends a request of `words` words, which are in `registers` or, if that is NULL, in the IPC
 * buffer, where the reply is then. */
CAMKES_INLINE seL4_MessageInfo_t camkes_call(seL4_CPtr endpoint, seL4_Word label,
                                             struct camkes_registers *registers, unsigned words)
{
    const seL4_MessageInfo_t info = seL4_MessageInfo_new(label, 0, 0, words);
    return registers != NULL ? camkes_platform_call_registers(endpoint, info, registers)
                             : seL4_Call(endpoint, info);
}

/* A request of a context that can inherit, to a CPI with a manager. */
CAMKES_INLINE seL4_MessageInfo_t camkes_request_nested(struct camkes_thread *self,
                                                       const struct camkes_uses *to,
                                                       const struct camkes_route *route,
                                                       struct camkes_registers *registers,
                                                       seL4_Word method, unsigned words)
{
    struct camkes_context *const context = self->context; /* it can inherit */
    if (context == NULL) {                                /* not covered: it has one */
        __builtin_unreachable();
    }
    const seL4_CPtr endpoint = route->endpoint;
    seL4_MessageInfo_t reply;
    atomic_store(&context->nested, route->manager);
    camkes_point();
    if (CAMKES_UNLIKELY(atomic_load(&context->effective) > context->base)) {
        if (registers == NULL) {
            return camkes_request_raised(to, route, method, words);
        }
        camkes_registers_to_buffer(registers);
        reply = camkes_request_raised(to, route, method, words);
        camkes_registers_from_buffer(registers);
        return reply;
    }
    camkes_point();
    reply = camkes_call(endpoint, camkes_own_label(self, to, context) | method, registers, words);
    CAMKES_TRACE(CALL_END, to->cpi, self->origin);
    const seL4_CPtr manager = atomic_exchange(&context->nested, 0);
    camkes_point();
    if (CAMKES_UNLIKELY(atomic_load(&context->pushed) == manager)) {
        if (registers == NULL) {
            return camkes_request_pushed(to, reply);
        }
        camkes_registers_to_buffer(registers);
        reply = camkes_request_pushed(to, reply);
        camkes_registers_from_buffer(registers);
    }
    camkes_point();
    return reply;
}

/* The same to a CPI with a protocol, as the request of the running thread, which has a route, for a
 * CAMKES_LABEL_METHOD(), or 0. */
CAMKES_INLINE seL4_MessageInfo_t camkes_request(const struct camkes_uses *to, seL4_Word method,
                                                struct camkes_registers *registers, unsigned words)
{
    struct camkes_thread *const self = camkes_self();
    const struct camkes_route *const route = camkes_route(self, to);
    /* on an MCS kernel the time manager passes on the priority of a task */
    const bool nested =
        to->label == 0 && route->manager != 0 && (!CAMKES_MCS || self->context != NULL);
    if (CAMKES_TRACING) {
        self->sequence++;
    }
    CAMKES_TRACE(CALL_BEGIN, to->cpi, self->origin, camkes_own_priority(self));
    if (nested) {
        return camkes_request_nested(self, to, route, registers, method, words);
    }
    if (CAMKES_MCS || self->context != NULL) {
        camkes_point(); /* the label has a priority that others change */
    }
    const seL4_Word label = camkes_own_label(self, to, self->context) | method;
    const seL4_MessageInfo_t reply = camkes_call(route->endpoint, label, registers, words);
    CAMKES_TRACE(CALL_END, to->cpi, self->origin);
    return reply;
}
