/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* What threads that serve requests do. */
#include "lock.h"

#include <camkes/instance.h>
#include <camkes/label.h>

/* The priority that a request may claim to have. */
static uint8_t bounded(uint8_t priority, const struct camkes_caller *caller)
{
    return priority < caller->bound ? priority : caller->bound;
}

static void ask_manager(const struct camkes_thread *self, enum camkes_operation operation)
{
    const struct camkes_context *context = self->context;
    uint16_t index = 0;
    while (self->cpi->pool[index] != self) {
        index++;
    }
    camkes_platform_call(context->manager_as_worker, camkes_operation_label(operation, 0, index));
}

static void begin(struct camkes_thread *self, const struct camkes_caller *caller, seL4_Word label)
{
    struct camkes_cpi *cpi = self->cpi;
    struct camkes_context *context = &cpi->context[caller->context];
    const struct camkes_request_label request = camkes_request_label_read(label);

    self->sender_id = caller->sender_id;
    self->caller_context = caller->context;
    self->task_id = request.task;
    self->request_priority = bounded(request.priority, caller);
    CAMKES_TRACE(REQUEST_BEGIN, cpi->id, context->id, self->request_priority, self->task_id,
                 request.sequence);
    if (cpi->protocol != CAMKES_FIXED) {
        self->context = context;
        self->origin = context->id;
        self->route = context->route;
    }
    if (cpi->pooled) {
        ask_manager(self, CAMKES_BEGIN_REQUEST);
    }
    if (cpi->protocol == CAMKES_INHERITED) {
        camkes_lock_take(cpi, caller->context);
    }
}

static void end(struct camkes_thread *self)
{
    struct camkes_cpi *cpi = self->cpi;
    if (cpi->protocol == CAMKES_INHERITED) {
        camkes_lock_free(cpi, self->caller_context);
    }
    CAMKES_TRACE(REQUEST_END, cpi->id, cpi->context[self->caller_context].id);
    if (cpi->pooled) {
        ask_manager(self, CAMKES_END_REQUEST);
    }
}

void camkes_serve_cpi(struct camkes_thread *self)
{
    camkes_start_wait(self->instance);
    seL4_Word badge = 0;
    seL4_MessageInfo_t info = camkes_platform_receive(self->endpoint, &badge);
    for (;;) {
        unsigned words = 0;
        if (badge >= 1 && badge <= self->cpi->callers) {
            begin(self, &self->cpi->caller[badge - 1], seL4_MessageInfo_get_label(info));
            words = self->serve(self, (unsigned)seL4_MessageInfo_get_length(info));
            end(self);
        }
        const seL4_MessageInfo_t reply = seL4_MessageInfo_new(0, 0, 0, words);
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
        return; /* nothing is connected */
    }
    seL4_MessageInfo_t info = camkes_platform_receive_first(self->endpoint, &self->sender_id);
    for (;;) {
        const unsigned words = self->serve(self, (unsigned)seL4_MessageInfo_get_length(info));
        const seL4_MessageInfo_t reply = seL4_MessageInfo_new(0, 0, 0, words);
        info = camkes_platform_reply_receive(self->endpoint, reply, &self->sender_id);
    }
}
