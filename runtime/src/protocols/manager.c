/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * The manager of a CPI: one thread that alone owns the queue of waiters and the priorities of the
 * CPI's workers, and so cannot race with itself.
 */
#include "lock.h"
#include "nested.h"
#include "queue.h"

#include <camkes/instance.h>
#include <camkes/label.h>

/* Who holds the lock, NULL: nobody. */
static struct camkes_context *holder(struct camkes_cpi *cpi)
{
    const uintptr_t word = atomic_load(&cpi->lock) & (CAMKES_WAITERS - 1);
    return word == 0 ? NULL : &cpi->context[word - 1];
}

static void set_priority(struct camkes_cpi *cpi, struct camkes_context *context, uint8_t priority)
{
    if (context->worker != NULL) {
        seL4_TCB_SetPriority(context->worker->tcb, cpi->authority, priority);
    }
}

/* Gives the context a new effective priority, which it has because of `cause`. */
static void set_effective(struct camkes_cpi *cpi, struct camkes_context *context, uint8_t priority,
                          uint16_t cause)
{
    const uint8_t before = atomic_load(&context->effective);
    if (priority == before) {
        return;
    }
    atomic_store(&context->cause, cause);
    atomic_store(&context->effective, priority);
    CAMKES_TRACE(INHERIT, cpi->id, context->id, before, priority, cause);
    camkes_point();
    set_priority(cpi, context, priority);
    camkes_point();
    if (priority > before) {
        camkes_nested_push(context, priority);
    }
}

/* Its own request's priority, or what the first waiter brings if it holds the lock. */
static void inherit(struct camkes_cpi *cpi, struct camkes_context *context, bool holds,
                    uint16_t cause)
{
    const struct camkes_context *first = holds ? camkes_queue_first(cpi) : NULL;
    if (first != NULL && first->request > context->request) {
        set_effective(cpi, context, first->request, first->id);
    } else {
        set_effective(cpi, context, context->request, cause);
    }
}

/* Returns whether the caller gets its reply at once. */
static bool acquire(struct camkes_cpi *cpi, uint16_t index)
{
    struct camkes_context *context = &cpi->context[index];
    uintptr_t word = atomic_load(&cpi->lock);
    for (;;) {
        camkes_point();
        if (word == 0) {
            if (atomic_compare_exchange_strong(&cpi->lock, &word, camkes_held_by(index))) {
                CAMKES_TRACE(LOCK_TAKE, cpi->id, context->id);
                return true;
            }
        } else if ((word & CAMKES_WAITERS) != 0 ||
                   atomic_compare_exchange_strong(&cpi->lock, &word, word | CAMKES_WAITERS)) {
            break;
        }
    }
    camkes_platform_save_caller(context->reply);
    camkes_queue_insert(cpi, index);
    CAMKES_TRACE_ABOUT(LOCK_WAIT, context->worker->number, cpi->id, context->id, context->request);
    struct camkes_context *held_by = holder(cpi);
    inherit(cpi, held_by, true, held_by->id);
    return false;
}

/* The releaser's inheritance ends, the lock goes to the first waiter. */
static void hand_over(struct camkes_cpi *cpi, uint16_t index)
{
    struct camkes_context *from = &cpi->context[index];
    if (holder(cpi) != from || cpi->queued == 0) {
        return; /* a release of what is not held or that nobody waits for */
    }
    CAMKES_TRACE(LOCK_FREE, cpi->id, from->id);
    const uint16_t next = camkes_queue_take(cpi);
    struct camkes_context *to = &cpi->context[next];
    atomic_store(&cpi->lock, camkes_held_by(next) | (cpi->queued > 0 ? CAMKES_WAITERS : 0));
    CAMKES_TRACE_ABOUT(LOCK_GRANT, to->worker->number, cpi->id, to->id);
    inherit(cpi, from, false, from->id);
    camkes_point();
    inherit(cpi, to, true, to->id);
    camkes_point();
    seL4_Send(to->reply, seL4_MessageInfo_new(0, 0, 0, 0));
    camkes_point();
}

static void begin(struct camkes_cpi *cpi, struct camkes_context *context, uint16_t thread)
{
    context->worker = cpi->pool[thread];
    set_priority(cpi, context, atomic_load(&context->effective));
}

static void end(struct camkes_cpi *cpi, struct camkes_context *context)
{
    set_priority(cpi, context, cpi->ceiling);
    context->worker = NULL;
}

/* A caller was raised. */
static void update(struct camkes_cpi *cpi, const struct camkes_caller *caller, uint8_t priority,
                   uint16_t cause)
{
    struct camkes_context *context = &cpi->context[caller->context];
    priority = priority < caller->bound ? priority : caller->bound;
    CAMKES_TRACE(UPDATE, cpi->id, context->id, priority);
    if (priority <= context->request) {
        return;
    }
    context->request = priority;
    struct camkes_context *held_by = holder(cpi);
    inherit(cpi, context, held_by == context, cause);
    if (context->waiting) {
        camkes_queue_raise(cpi, caller->context);
        inherit(cpi, held_by, true, held_by->id);
    }
}

/* Its raised request is over. */
static void clear(struct camkes_cpi *cpi, const struct camkes_caller *caller)
{
    struct camkes_context *context = &cpi->context[caller->context];
    CAMKES_TRACE(CLEAR, cpi->id, context->id);
    if (context->waiting) {
        return; /* then it is not over, and the caller is not to be trusted */
    }
    context->request = context->base;
    inherit(cpi, context, holder(cpi) == context, context->id);
}

/* One message; returns whether its sender gets a reply now. */
static bool step(struct camkes_cpi *cpi, seL4_Word badge, seL4_Word label)
{
    const enum camkes_operation operation = (enum camkes_operation)camkes_bits(label, 0, 4);
    const uint8_t value = (uint8_t)camkes_bits(label, 4, 8);
    const uint16_t detail = (uint16_t)camkes_bits(label, 12, CAMKES_LABEL_DETAIL_BITS);
    if (badge == 0 || badge > (seL4_Word)cpi->contexts + cpi->callers) {
        return true;
    }
    if (badge > cpi->contexts) {
        const struct camkes_caller *caller = &cpi->caller[badge - cpi->contexts - 1];
        if (operation == CAMKES_UPDATE) {
            update(cpi, caller, value, detail);
        } else if (operation == CAMKES_CLEAR) {
            clear(cpi, caller);
        }
        return true;
    }
    const uint16_t index = (uint16_t)(badge - 1);
    switch (operation) {
    case CAMKES_ACQUIRE_LOCK:
        return acquire(cpi, index);
    case CAMKES_RELEASE_LOCK:
        hand_over(cpi, index);
        return true;
    case CAMKES_BEGIN_REQUEST:
        begin(cpi, &cpi->context[index], detail);
        return true;
    case CAMKES_END_REQUEST:
        end(cpi, &cpi->context[index]);
        return true;
    default: /* CAMKES_SETTLE: that we are here says that it is done */
        return true;
    }
}

void camkes_manage_cpi(struct camkes_thread *self)
{
    struct camkes_cpi *cpi = self->cpi;
    const seL4_MessageInfo_t empty = seL4_MessageInfo_new(0, 0, 0, 0);
    bool reply = false;
    for (;;) {
        seL4_Word badge = 0;
        const seL4_MessageInfo_t info =
            reply ? camkes_platform_reply_receive(cpi->manager, empty, &badge)
                  : camkes_platform_receive(cpi->manager, &badge);
        reply = step(cpi, badge, seL4_MessageInfo_get_label(info));
        camkes_point();
    }
}
