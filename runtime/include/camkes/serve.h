/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * The loops of threads that serve requests, with the way of a request through a CPI. Generated code
 * calls them with constants, so that each interface gets a loop of its own. What is not on the way
 * of a request without contention is in src/core/{serve,lock}.c.
 */
#pragma once

#include <camkes/cpi.h>
#include <camkes/instance.h>
#include <camkes/label.h>
#include <camkes/message.h>

/* A request as it was received; its first words are in `registers`. */
struct camkes_received {
    seL4_MessageInfo_t info;
    unsigned words; /* its length */
    seL4_Word badge;
    uintptr_t held; /* the CPI's lock word while the request's context holds the lock */
    struct camkes_registers registers;
};

/* The lengths of an interface's good requests, in words, as far as they are known. The loops test
 * them together with the label, but for the method, where that has `several`. */
struct camkes_lengths {
    seL4_Word least;
    seL4_Word most;
    bool several;
};

CAMKES_INLINE struct camkes_lengths camkes_lengths_of(struct camkes_layout layout)
{
    const seL4_Word words = CAMKES_WORDS(layout.bytes);
    return (struct camkes_lengths){.least = words, .most = words};
}

/* What is checked of a request: all but the method, where there are several. */
CAMKES_INLINE seL4_MessageInfo_t camkes_checked(const struct camkes_received *request, bool several)
{
    return several ? camkes_without_method(request->info) : request->info;
}

/* Whether a request has the label and the capabilities of `base` and such a length, which it gets.
 * `base` itself has the least one. */
CAMKES_INLINE bool camkes_is_usual(struct camkes_received *request, seL4_Word base,
                                   struct camkes_lengths usual)
{
    const seL4_Word more = camkes_checked(request, usual.several).words[0] - base;
    request->words = (unsigned)(usual.least + (usual.least < usual.most ? more : 0));
    return CAMKES_LIKELY(more <= usual.most - usual.least);
}

/* For traces: between the records of its begin and end a request can be aborted. */
static inline void camkes_note_serving(struct camkes_thread *self, bool serving)
{
#if CAMKES_MCS && CAMKES_TRACING
    self->serving = serving;
#else
    (void)self;
    (void)serving;
#endif
}

/* Reads a request, serves it, writes the reply, sends it and receives the next request. */
typedef void camkes_server_t(struct camkes_thread *self, struct camkes_received *request);

#if CAMKES_MCS
/* The same by a thread that has the extension of its CPI, and returns that before it receives. */
void camkes_reply_extended(struct camkes_thread *self, struct camkes_received *request,
                           seL4_MessageInfo_t reply, const struct camkes_registers *registers);
/* Returns what the running thread has besides the time of its caller to the manager. */
void camkes_return_time(const struct camkes_thread *self, enum camkes_return when);
/* Lets a task go on that the CPI has suspended; returns whether it had. */
bool camkes_resume(const struct camkes_cpi *cpi, int task);
#endif

/* The end of a server: sends a reply, whose first words are in `registers`. */
CAMKES_INLINE void camkes_reply(struct camkes_thread *self, struct camkes_received *request,
                                seL4_MessageInfo_t reply, struct camkes_registers *registers)
{
#if CAMKES_MCS
    if (CAMKES_UNLIKELY(atomic_load(&self->extended))) {
        camkes_reply_extended(self, request, reply, registers);
        return;
    }
#endif
    request->info =
        camkes_platform_reply_receive_registers(self->endpoint, reply, &request->badge, registers);
    request->registers = *registers;
#if CAMKES_MCS
    if (CAMKES_UNLIKELY(atomic_load(&self->extended))) {
        /* it was given that after it had decided to receive */
        camkes_return_time(self, CAMKES_RETURN_BEGUN);
    }
#endif
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

/* Decides whether a request, for one of `several` methods, may claim the values of its label; keeps
 * label and badge, and sets `words`. */
unsigned camkes_check_request(struct camkes_thread *self, struct camkes_received *request,
                              bool several);
/* Begins and ends a request that a thread of a pool serves. */
unsigned camkes_pool_begin(struct camkes_thread *self);
void camkes_pool_end(struct camkes_thread *self);
/* Takes a lock that is held, and frees one that others wait for. */
void camkes_lock_wait(struct camkes_cpi *cpi, struct camkes_context *context);
void camkes_lock_hand_over(struct camkes_cpi *cpi, struct camkes_context *context);

/* What the thread of an interface without a protocol does first, and all if nothing is connected.
 */
void camkes_run_interface(struct camkes_thread *self);

CAMKES_INLINE void camkes_lock_take(const struct camkes_thread *self, struct camkes_cpi *cpi,
                                    _Atomic uintptr_t *lock, uintptr_t held)
{
    uintptr_t found = 0;
    if (CAMKES_LIKELY(atomic_compare_exchange_strong(lock, &found, held))) {
        CAMKES_TRACE(LOCK_TAKE, cpi->id, self->context->id);
        camkes_point();
    } else {
        camkes_lock_wait(cpi, self->context);
    }
}

CAMKES_INLINE void camkes_lock_free(const struct camkes_thread *self, struct camkes_cpi *cpi,
                                    _Atomic uintptr_t *lock, uintptr_t held)
{
    uintptr_t found = held;
    camkes_point();
    if (CAMKES_LIKELY(atomic_compare_exchange_strong(lock, &found, 0))) {
        CAMKES_TRACE(LOCK_FREE, cpi->id, self->context->id);
    } else {
        camkes_lock_hand_over(cpi, self->context);
    }
}

/*
 * Around the handler of a CPI: after the request was read and found good, and when its reply is
 * written. In between the handler has the CPI's lock. The first returns why the request cannot
 * begin. `lock`, the word of the CPI's lock (NULL: it has none), and `pooled` are constants.
 */
CAMKES_INLINE unsigned camkes_begin_request(struct camkes_thread *self,
                                            struct camkes_received *request, struct camkes_cpi *cpi,
                                            _Atomic uintptr_t *lock, bool pooled)
{
    if (pooled) {
        const unsigned error = camkes_pool_begin(self);
        if (error != CAMKES_MESSAGE_GOOD) {
            return error;
        }
        request->held = self->context->held;
    } else {
        CAMKES_TRACE(REQUEST_BEGIN, cpi->id, camkes_sender_context(self)->id,
                     camkes_request_label_read(self->label).priority,
                     camkes_label_task(self->label),
                     camkes_request_label_read(self->label).sequence);
        camkes_note_serving(self, true);
    }
    if (lock != NULL) {
        CAMKES_ASSERT(self->context != NULL); /* pooled: since the request began */
        camkes_lock_take(self, cpi, lock, request->held);
    }
    return CAMKES_MESSAGE_GOOD;
}

CAMKES_INLINE void camkes_end_request(struct camkes_thread *self,
                                      const struct camkes_received *request, struct camkes_cpi *cpi,
                                      _Atomic uintptr_t *lock, bool pooled)
{
    if (lock != NULL) {
        camkes_lock_free(self, cpi, lock, request->held);
    }
    CAMKES_TRACE(REQUEST_END, cpi->id, camkes_sender_context(self)->id);
    camkes_note_serving(self, false);
    if (pooled) {
        camkes_pool_end(self);
    }
}

CAMKES_INLINE void camkes_serve_cpi(struct camkes_thread *self, camkes_server_t *serve,
                                    struct camkes_lengths usual)
{
    camkes_start_wait(self->instance);
    seL4_Word badge = 0;
    const seL4_MessageInfo_t info = camkes_platform_receive_first(self->endpoint, &badge);
    struct camkes_received request = camkes_received_first(info, badge);
    request.held = self->context != NULL ? self->context->held : 0;
    /* The last good label with the least length; at first, and after a bad one, that of a message
     * with capabilities, which no caller can send. */
    const seL4_Word none = seL4_MessageInfo_new(0, 7, 0, 0).words[0];
    seL4_Word base = none;
    for (;;) {
        /* A request like the one before needs no check: what may be claimed does not change. */
        if (!camkes_is_usual(&request, base, usual) ||
            CAMKES_UNLIKELY(request.badge != self->badge)) {
            struct camkes_received copy = request; /* so that `request` need not be in memory */
            const unsigned error = camkes_check_request(self, &copy, usual.several);
            request = copy;
            if (error != CAMKES_MESSAGE_GOOD) {
                base = none;
                camkes_reply_refused(self, &request, self->cpi->place, error);
                continue;
            }
            base = seL4_MessageInfo_new(self->label, 0, 0, usual.least).words[0];
        }
        serve(self, &request);
    }
}

CAMKES_INLINE void camkes_serve_plain(struct camkes_thread *self, camkes_server_t *serve,
                                      struct camkes_lengths usual)
{
    camkes_run_interface(self);
    seL4_Word badge = 0;
    const seL4_MessageInfo_t info = camkes_platform_receive_first(self->endpoint, &badge);
    struct camkes_received request = camkes_received_first(info, badge);
    for (;;) {
        if (usual.least < usual.most) {
            request.words = (unsigned)seL4_MessageInfo_get_length(request.info);
        } else if (!camkes_is_usual(&request, usual.least, usual)) {
            CAMKES_UNUSUAL();
            request.words = (unsigned)seL4_MessageInfo_get_length(request.info);
        }
        self->badge = request.badge;
        serve(self, &request);
    }
}
