/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Overruns on an MCS kernel: what a manager does when the budget of a request is used up. Only its
 * CPI's manager calls these functions. Other kernels have no budgets.
 */
#pragma once

#include <camkes/cpi.h>
#include <camkes/label.h>

/* The time manager's badge, above all others; no kernel but an MCS kernel has one. */
#define CAMKES_BADGE_TIME_MANAGER ((seL4_Word)1 << 20)

#if defined(CONFIG_KERNEL_MCS)

/* Whether a badge is that of timeouts; they come after those of callers, one for each worker. */
static inline bool camkes_is_timeout(const struct camkes_cpi *cpi, seL4_Word badge)
{
    return badge > (seL4_Word)cpi->contexts + cpi->callers;
}

/* A context that is bound to a blocked thread must have budget now, or else this fails. */
static inline __attribute__((warn_unused_result)) bool
camkes_bind(seL4_CPtr time, const struct camkes_thread *thread)
{
    return seL4_SchedContext_Bind(time, thread->tcb) == seL4_NoError;
}

/* Fails if another thread has it. */
static inline __attribute__((warn_unused_result)) bool
camkes_unbind(seL4_CPtr time, const struct camkes_thread *thread)
{
    return seL4_SchedContext_UnbindObject(time, thread->tcb) == seL4_NoError;
}

static inline struct camkes_thread *camkes_worker_of(const struct camkes_context *context)
{
    return atomic_load(&context->worker);
}

/* Whether its workers are at the ceiling, whatever the priorities of their requests are. */
static inline bool camkes_overrun_at_ceiling(const struct camkes_cpi *cpi)
{
    return cpi->at_ceiling;
}

/* Whether those that wait for the lock pay for its holder. */
static inline bool camkes_overrun_helps(const struct camkes_cpi *cpi)
{
    return cpi->helps;
}

/* Whether the one that its priority comes from pays for a context, and for its nested requests. */
static inline void camkes_overrun_set_paid(struct camkes_context *context, bool paid)
{
    atomic_store(&context->paid, paid);
}

/* Sends the timeouts of a worker to the manager, before it serves. */
void camkes_overrun_prepare(const struct camkes_thread *worker);
/* Handles the timeout of a worker, and what is sent with that badge, and answers. Returns the
 * context of a request that was aborted whose worker is home; NULL: there is none. */
struct camkes_context *camkes_overrun_message(struct camkes_cpi *cpi, seL4_Word badge,
                                              seL4_MessageInfo_t info);
/* Answers the caller of a worker that has faulted and has no scheduling context: its time goes back
 * to it, unless it is suspended. The worker rolls back, if it holds the lock, or there is none. */
void camkes_overrun_abort(struct camkes_cpi *cpi, struct camkes_thread *worker, bool holds);
/* A worker returns what it has; see there. Returns as camkes_overrun_message(). */
struct camkes_context *camkes_overrun_return(struct camkes_cpi *cpi, struct camkes_thread *worker,
                                             enum camkes_return when);
/* Lets the suspended task with an id go on. Replies whether there is one. */
void camkes_overrun_resume(struct camkes_cpi *cpi, uint16_t task);
/* A context is about to wait for the lock: if it can pay for nested requests, it does not keep its
 * time. */
void camkes_overrun_lend(struct camkes_cpi *cpi, struct camkes_context *context);
/* In a group: a context begins to wait for the lock. */
void camkes_overrun_queue(struct camkes_cpi *cpi, struct camkes_context *context);
/* A context begins to wait for the lock that `holder` has. */
void camkes_overrun_wait(struct camkes_cpi *cpi, struct camkes_context *holder,
                         struct camkes_context *context);
/* The task with the id `cause` waits for what the request of a context has further up; with
 * CAMKES_NO_TASK none does any more. Of a CPI with a lock of its own: the manager of a group gets
 * the priorities of its members. */
void camkes_overrun_raised(struct camkes_cpi *cpi, struct camkes_context *context, uint8_t priority,
                           uint16_t cause);
/* The CPI of the nested request of a context, if it has one, learns of one that waits for the lock
 * that the context has. */
void camkes_overrun_tell(struct camkes_cpi *cpi, struct camkes_context *context,
                         const struct camkes_context *waiter);
/* And of all that do so, here and further up. */
void camkes_overrun_tell_all(struct camkes_cpi *cpi, struct camkes_context *context);
/* A context gives up the lock, for whose release it has called the manager: the time of others is
 * taken away from it. Returns whether there was some; then `camkes_overrun_home` replies. */
bool camkes_overrun_leave(struct camkes_cpi *cpi, struct camkes_context *context);
void camkes_overrun_home(struct camkes_cpi *cpi, const struct camkes_context *context);
/* A context whose time may be with another is given the lock. Returns whether it has no time now;
 * then `camkes_overrun_granted` follows when it can execute. */
bool camkes_overrun_give(struct camkes_cpi *cpi, struct camkes_context *context);
void camkes_overrun_granted(struct camkes_cpi *cpi, const struct camkes_context *context);

#else

#define camkes_is_timeout(cpi, badge) false
#define camkes_overrun_at_ceiling(cpi) false
#define camkes_overrun_helps(cpi) false
#define camkes_overrun_set_paid(context, paid) ((void)(paid))
#define camkes_overrun_message(cpi, badge, info) ((void)(info), NULL)
#define camkes_overrun_queue(cpi, context) ((void)(context))
#define camkes_overrun_lend(cpi, context) ((void)(context))
#define camkes_overrun_wait(cpi, holder, context) ((void)(context))
#define camkes_overrun_raised(cpi, context, priority, cause) ((void)(context))
#define camkes_overrun_tell(cpi, context, waiter) ((void)(context))
#define camkes_overrun_tell_all(cpi, context) ((void)(context))
#define camkes_overrun_leave(cpi, context) false
#define camkes_overrun_home(cpi, context) ((void)(context))
#define camkes_overrun_give(cpi, context) false
#define camkes_overrun_granted(cpi, context) ((void)(context))

#endif
