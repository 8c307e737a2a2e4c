/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Overruns on an MCS kernel: what a manager does when the budget of a request is used up. Only its
 * CPI's manager calls these functions. Other kernels have no budgets.
 */
#pragma once

#include <camkes/cpi.h>

#if defined(CONFIG_KERNEL_MCS)

/* Whether a badge is that of timeouts; they come after those of callers, one for each context. */
static inline bool camkes_is_timeout(const struct camkes_cpi *cpi, seL4_Word badge)
{
    return badge > (seL4_Word)cpi->contexts + cpi->callers;
}

/* Sends the timeouts of the workers to the manager. */
void camkes_overrun_prepare(const struct camkes_cpi *cpi);
/* A budget or a part of one is used up; this answers the fault of a worker of the context. */
void camkes_overrun(struct camkes_cpi *cpi, const struct camkes_context *context);
/* A worker that was aborted leaves, on the extension: it gets home, to wait for callers. Replies.
 */
void camkes_overrun_return(struct camkes_cpi *cpi, struct camkes_context *context);
/* A worker that was extended has received another request, whose time it did not get: it serves
 * that on the context of its way home. */
void camkes_overrun_exchange(struct camkes_cpi *cpi);
/* A context begins to wait for the lock that `holder` has. */
void camkes_overrun_wait(struct camkes_cpi *cpi, struct camkes_context *holder,
                         struct camkes_context *context);
/* A context gives up the lock, for whose release it has called the manager: the time of others is
 * taken away from it. Returns whether there was some; then `camkes_overrun_home` replies. */
bool camkes_overrun_leave(struct camkes_cpi *cpi, struct camkes_context *context);
void camkes_overrun_home(struct camkes_context *context);
/* Gives the lock, by the reply that was kept, to a context whose time may be with another. */
void camkes_overrun_grant(struct camkes_cpi *cpi, struct camkes_context *context);

#else

#define camkes_is_timeout(cpi, badge) false
#define camkes_overrun_prepare(cpi) ((void)(cpi))
#define camkes_overrun(cpi, context) ((void)(context))
#define camkes_overrun_return(cpi, context) ((void)(context))
#define camkes_overrun_exchange(cpi) ((void)(cpi))
#define camkes_overrun_wait(cpi, holder, context) ((void)(context))
#define camkes_overrun_leave(cpi, context) false
#define camkes_overrun_home(context) ((void)(context))
#define camkes_overrun_grant(cpi, context)                                                         \
    seL4_Send((context)->reply, seL4_MessageInfo_new(0, 0, 0, 0))

#endif
