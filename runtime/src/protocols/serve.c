/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The loops of threads that serve requests. */
#include "lock.h"
#include "nested.h"

#include <camkes/instance.h>
#include <camkes/label.h>

static bool is_task_of(const struct camkes_caller *caller, uint16_t task)
{
    return task / 8u < caller->task_bytes && (caller->tasks[task / 8u] >> task % 8u & 1u) != 0;
}

/*
 * Finds the sender of a request by its badge, which cannot be forged, and checks that the label
 * claims no priority or task that this sender cannot have. No capabilities are received, because no
 * sender has the grant right.
 */
static unsigned accept_request(struct camkes_thread *self, seL4_Word badge, seL4_Word label)
{
    self->badge = badge;
    if (badge - 1 >= self->cpi->callers) {
        self->sender_id = badge;
        return CAMKES_MESSAGE_BADGE;
    }
    const struct camkes_caller *caller = &self->cpi->caller[badge - 1];
    const struct camkes_request_label claim = camkes_request_label_read(label);
    self->caller = caller;
    self->sender_id = caller->sender_id;
    self->task_id = claim.task;
    self->label = label;
    if (claim.priority < caller->base || claim.priority > caller->bound) {
        return CAMKES_MESSAGE_PRIORITY;
    }
    if (!is_task_of(caller, claim.task)) {
        return CAMKES_MESSAGE_TASK;
    }
    return label >> CAMKES_LABEL_BITS != 0 ? CAMKES_MESSAGE_LABEL : CAMKES_MESSAGE_GOOD;
}

/* Sends BEGIN_REQUEST or END_REQUEST for this thread of a pool to the manager; returns its reply.
 */
static seL4_Word tell_manager(const struct camkes_thread *self,
                              const struct camkes_context *context, enum camkes_operation operation)
{
    uint16_t index = 0;
    while (self->cpi->pool[index] != self) {
        index++;
    }
    return camkes_platform_call(context->manager_as_worker,
                                camkes_operation_label(operation, 0, index));
}

bool camkes_begin_request(struct camkes_thread *self, struct camkes_message *request)
{
    struct camkes_cpi *cpi = self->cpi;
    const uint16_t index = self->caller->context;
    struct camkes_context *context = &cpi->context[index];
    if (cpi->pooled && atomic_load(&context->worker) != NULL) {
        request->error = CAMKES_MESSAGE_BUSY;
        return false;
    }
    CAMKES_TRACE(REQUEST_BEGIN, cpi->id, context->id,
                 camkes_request_label_read(self->label).priority, self->task_id,
                 camkes_request_label_read(self->label).sequence);
    if (cpi->protocol != CAMKES_FIXED) {
        self->context = context;
        self->origin = context->id;
        self->route = context->route;
    }
    if (cpi->pooled && tell_manager(self, context, CAMKES_BEGIN_REQUEST) != CAMKES_MESSAGE_GOOD) {
        CAMKES_TRACE(REQUEST_END, cpi->id, context->id);
        request->error = CAMKES_MESSAGE_BUSY;
        return false;
    }
    if (cpi->protocol == CAMKES_INHERITED) {
        camkes_lock_take(cpi, index);
    }
    return true;
}

void camkes_end_request(struct camkes_thread *self)
{
    struct camkes_cpi *cpi = self->cpi;
    const uint16_t index = self->caller->context;
    if (cpi->protocol == CAMKES_INHERITED) {
        camkes_lock_free(cpi, index);
    }
    CAMKES_TRACE(REQUEST_END, cpi->id, cpi->context[index].id);
    if (cpi->pooled && tell_manager(self, &cpi->context[index], CAMKES_END_REQUEST) != 0) {
        camkes_manager_failed(cpi->name);
    }
}

void camkes_serve_cpi(struct camkes_thread *self)
{
    camkes_start_wait(self->instance);
    seL4_Word badge = 0;
    seL4_MessageInfo_t info = camkes_platform_receive(self->endpoint, &badge);
    for (;;) {
        const unsigned error = accept_request(self, badge, seL4_MessageInfo_get_label(info));
        const seL4_MessageInfo_t reply =
            __builtin_expect(error == CAMKES_MESSAGE_GOOD, 1)
                ? self->serve(self, (unsigned)seL4_MessageInfo_get_length(info))
                : camkes_refuse(self, self->cpi->place, error);
        info = camkes_platform_reply_receive(self->endpoint, reply, &badge);
    }
}

void camkes_serve_plain(struct camkes_thread *self)
{
    const struct camkes_interface *interface = self->interface;
    camkes_start_interface(self->instance, interface->init);
    if (interface->run) {
        (void)interface->run();
    }
    if (self->endpoint == 0) {
        return; /* the interface is not connected */
    }
    seL4_MessageInfo_t info = camkes_platform_receive_first(self->endpoint, &self->sender_id);
    for (;;) {
        self->badge = self->sender_id;
        const seL4_MessageInfo_t reply =
            self->serve(self, (unsigned)seL4_MessageInfo_get_length(info));
        info = camkes_platform_reply_receive(self->endpoint, reply, &self->sender_id);
    }
}
