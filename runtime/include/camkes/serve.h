/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * The loops of threads that serve requests, with the way of a request through a CPI. Generated code
 * calls them with constants, so that each interface gets a loop of its own. What is not on the way
 * of a request without contention is in src/protocols/{serve,lock}.c.
 */
#pragma once

#include <camkes/cpi.h>
#include <camkes/instance.h>
#include <camkes/label.h>
#include <camkes/message.h>

/* A request as it was received; its first words are in `registers`. */
struct camkes_received {
    seL4_MessageInfo_t info;
    seL4_Word badge;
    struct camkes_registers registers;
};

/* Reads a request, serves it, writes the reply, sends it and receives the next request. */
typedef void camkes_server_t(struct camkes_thread *self, struct camkes_received *request);

/* The end of a server: sends a reply, whose first words are in `registers`. */
CAMKES_INLINE void camkes_reply(struct camkes_thread *self, struct camkes_received *request,
                                seL4_MessageInfo_t reply, struct camkes_registers *registers)
{
    request->info =
        camkes_platform_reply_receive_registers(self->endpoint, reply, &request->badge, registers);
    request->registers = *registers;
}

/* The same for a reply without words. */
CAMKES_INLINE void camkes_reply_empty(struct camkes_thread *self, struct camkes_received *request,
                                      seL4_MessageInfo_t reply)
{
    struct camkes_registers registers = {{0}};
    camkes_reply(self, request, reply, &registers);
}

/* The same for a request that is refused. */
CAMKES_INLINE void camkes_reply_refused(struct camkes_thread *self, struct camkes_received *request,
                                        const struct camkes_place *place, unsigned error)
{
    const seL4_MessageInfo_t reply =
        camkes_refuse(place, self->badge, camkes_sender_id(self), error);
    camkes_reply_empty(self, request, reply);
}

/* The first request of a thread. */
CAMKES_INLINE struct camkes_received camkes_received_first(seL4_MessageInfo_t info, seL4_Word badge)
{
    struct camkes_received request = {.info = info, .badge = badge};
    camkes_registers_from_buffer(&request.registers);
    return request;
}

/* Decides whether a request may claim the values of its label, and keeps label and badge. */
unsigned camkes_check_request(struct camkes_thread *self, const struct camkes_received *request);
/* Begins and ends a request that a thread of a pool serves. */
unsigned camkes_pool_begin(struct camkes_thread *self);
void camkes_pool_end(struct camkes_thread *self);
/* Takes a lock that is held, and frees one that others wait for. */
void camkes_lock_wait(struct camkes_cpi *cpi, struct camkes_context *context);
void camkes_lock_hand_over(struct camkes_cpi *cpi, struct camkes_context *context);

/* What the thread of an interface without a protocol does first, and all if nothing is connected.
 */
void camkes_run_interface(struct camkes_thread *self);

/* `lock` is the word of the lock of the CPI, which is its own or that of its monitor. */
CAMKES_INLINE void camkes_lock_take(struct camkes_cpi *cpi, _Atomic uintptr_t *lock,
                                    struct camkes_context *context)
{
    uintptr_t found = 0;
    camkes_point();
    if (CAMKES_LIKELY(atomic_compare_exchange_strong(lock, &found, context->held))) {
        CAMKES_TRACE(LOCK_TAKE, cpi->id, context->id);
    } else {
        camkes_lock_wait(cpi, context);
    }
    camkes_point();
}

CAMKES_INLINE void camkes_lock_free(struct camkes_cpi *cpi, _Atomic uintptr_t *lock,
                                    struct camkes_context *context)
{
    uintptr_t found = context->held;
    camkes_point();
    if (CAMKES_LIKELY(atomic_compare_exchange_strong(lock, &found, 0))) {
        CAMKES_TRACE(LOCK_FREE, cpi->id, context->id);
    } else {
        camkes_lock_hand_over(cpi, context);
    }
    camkes_point();
}

/*
 * Around the handler of a CPI: after the request was read and found good, and when its reply is
 * written. In between the handler has the CPI's lock. The first returns why the request cannot
 * begin. `lock`, the word of the CPI's lock (NULL: it has none), and `pooled` are constants.
 */
CAMKES_INLINE unsigned camkes_begin_request(struct camkes_thread *self, struct camkes_cpi *cpi,
                                            _Atomic uintptr_t *lock, bool pooled)
{
    if (pooled) {
        const unsigned error = camkes_pool_begin(self);
        if (error != CAMKES_MESSAGE_GOOD) {
            return error;
        }
    } else {
        CAMKES_TRACE(REQUEST_BEGIN, cpi->id, camkes_sender_context(self)->id,
                     camkes_request_label_read(self->label).priority,
                     camkes_label_task(self->label),
                     camkes_request_label_read(self->label).sequence);
    }
    if (lock != NULL) {
        camkes_lock_take(cpi, lock, self->context);
    }
    return CAMKES_MESSAGE_GOOD;
}

CAMKES_INLINE void camkes_end_request(struct camkes_thread *self, struct camkes_cpi *cpi,
                                      _Atomic uintptr_t *lock, bool pooled)
{
    if (lock != NULL) {
        camkes_lock_free(cpi, lock, self->context);
    }
    CAMKES_TRACE(REQUEST_END, cpi->id, camkes_sender_context(self)->id);
    if (pooled) {
        camkes_pool_end(self);
    }
}

CAMKES_INLINE void camkes_serve_cpi(struct camkes_thread *self, camkes_server_t *serve)
{
    camkes_start_wait(self->instance);
    seL4_Word badge = 0;
    const seL4_MessageInfo_t info = camkes_platform_receive(self->endpoint, &badge);
    struct camkes_received request = camkes_received_first(info, badge);
    for (;;) {
        /* A request like the one before needs no check: what may be claimed does not change. */
        if (CAMKES_UNLIKELY(seL4_MessageInfo_get_label(request.info) != self->label ||
                            request.badge != self->badge)) {
            struct camkes_received copy = request; /* so that `request` need not be in memory */
            const unsigned error = camkes_check_request(self, &copy);
            request = copy;
            if (error != CAMKES_MESSAGE_GOOD) {
                camkes_reply_refused(self, &request, self->cpi->place, error);
                continue;
            }
        }
        serve(self, &request);
    }
}

CAMKES_INLINE void camkes_serve_plain(struct camkes_thread *self, camkes_server_t *serve)
{
    camkes_run_interface(self);
    seL4_Word badge = 0;
    const seL4_MessageInfo_t info = camkes_platform_receive_first(self->endpoint, &badge);
    struct camkes_received request = camkes_received_first(info, badge);
    for (;;) {
        self->badge = request.badge;
        serve(self, &request);
    }
}
