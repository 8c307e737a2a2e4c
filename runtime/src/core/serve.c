/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* What threads that serve requests do besides their loops, which are in camkes/serve.h. */
#include "nested.h"

#include <camkes/serve.h>

static bool is_task_of(const struct camkes_caller *caller, uint16_t task)
{
    return task / 8u < caller->task_bytes && (caller->tasks[task / 8u] >> task % 8u & 1u) != 0;
}

/*
 * The badge, which cannot be forged, says who sent a request; its label must claim no priority or
 * task that this sender cannot have. No capabilities are received, because no sender has the grant
 * right.
 */
static unsigned check(const struct camkes_thread *self, const struct camkes_caller *caller,
                      seL4_Word label)
{
    if (caller == NULL || (self->context != NULL && !self->cpi->pooled &&
                           self->context != &self->cpi->context[caller->context])) {
        return CAMKES_MESSAGE_BADGE;
    }
    const struct camkes_request_label claim = camkes_request_label_read(label);
    if (claim.priority < caller->base || claim.priority > caller->bound) {
        return CAMKES_MESSAGE_PRIORITY;
    }
    if (!is_task_of(caller, claim.task)) {
        return CAMKES_MESSAGE_TASK;
    }
    return label >> CAMKES_LABEL_BITS != 0 ? CAMKES_MESSAGE_LABEL : CAMKES_MESSAGE_GOOD;
}

unsigned camkes_check_request(struct camkes_thread *self, struct camkes_received *request,
                              bool several)
{
    const seL4_Word label = seL4_MessageInfo_get_label(camkes_checked(request, several));
    const unsigned error = check(self, camkes_caller(self->cpi, request->badge), label);
    request->words = (unsigned)seL4_MessageInfo_get_length(request->info);
    self->badge = request->badge;
    self->label = error == CAMKES_MESSAGE_GOOD ? label : CAMKES_LABEL_NONE;
    return error;
}

static uint16_t pool_index(const struct camkes_thread *self)
{
    uint16_t index = 0;
    /* at most threads times: it is one of them */
    while (self->cpi->pool[index] != self) {
        index++;
    }
    return index;
}

/* Sends BEGIN_REQUEST or END_REQUEST for this thread of a pool to the manager; returns its reply.
 */
static seL4_Word tell_manager(const struct camkes_thread *self,
                              const struct camkes_context *context,
                              enum camkes_worker_operation operation)
{
    return camkes_platform_call(context->manager_as_worker,
                                camkes_worker_label(operation, 0, pool_index(self)));
}

unsigned camkes_pool_begin(struct camkes_thread *self)
{
    struct camkes_cpi *cpi = self->cpi;
    struct camkes_context *context = camkes_sender_context(self);
    if (atomic_load(&context->worker) != NULL) {
        return CAMKES_MESSAGE_BUSY;
    }
    CAMKES_TRACE(REQUEST_BEGIN, cpi->id, context->id,
                 camkes_request_label_read(self->label).priority, camkes_label_task(self->label),
                 camkes_request_label_read(self->label).sequence);
    camkes_note_serving(self, true);
    self->context = context;
    self->origin = context->id;
    self->route = context->route;
    if (tell_manager(self, context, CAMKES_BEGIN_REQUEST) != CAMKES_MESSAGE_GOOD) {
        CAMKES_TRACE(REQUEST_END, cpi->id, context->id);
        camkes_note_serving(self, false);
        return CAMKES_MESSAGE_BUSY;
    }
    return CAMKES_MESSAGE_GOOD;
}

void camkes_pool_end(struct camkes_thread *self)
{
    camkes_must_grant(tell_manager(self, self->context, CAMKES_END_REQUEST), self->cpi->name);
}

#if CAMKES_MCS
void camkes_reply_extended(struct camkes_thread *self, struct camkes_received *request,
                           seL4_MessageInfo_t reply, const struct camkes_registers *registers)
{
    camkes_registers_to_buffer(registers);
    self->replied = true;
    if (atomic_exchange(&self->extended, false)) {
        camkes_platform_reply(reply);
        camkes_return_time(self, CAMKES_RETURN_REPLIED);
        request->info = camkes_platform_receive_first(self->endpoint, &request->badge);
    } else {
        self->replied = false;
        request->info = camkes_platform_reply_receive(self->endpoint, reply, &request->badge);
    }
    camkes_registers_from_buffer(&request->registers);
}

/* The capability for timeouts leads to the manager of the CPI, also in a group. */
static seL4_Word tell_own_manager(const struct camkes_cpi *cpi, ptrdiff_t worker, seL4_Word label)
{
    return camkes_platform_call(cpi->context[worker].timeout, label);
}

void camkes_return_time(const struct camkes_thread *self, enum camkes_return when)
{
    const struct camkes_cpi *cpi = self->cpi;
    const seL4_Word label = camkes_timeout_label(CAMKES_RETURN_TIME, (uint8_t)when, 0);
    camkes_must_grant(tell_own_manager(cpi, self->context - cpi->context, label), cpi->name);
}

bool camkes_resume(const struct camkes_cpi *cpi, int task)
{
    return task >= 0 &&
           tell_own_manager(cpi, 0, camkes_timeout_label(CAMKES_RESUME, 0, (uint16_t)task)) ==
               CAMKES_MESSAGE_GOOD;
}
#endif

void camkes_run_interface(struct camkes_thread *self)
{
    const struct camkes_interface *interface = self->interface;
    camkes_start_interface(self->instance, interface->init);
    if (interface->run) {
        (void)interface->run();
    }
}
