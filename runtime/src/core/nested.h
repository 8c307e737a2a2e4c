/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Propagation of priorities along a chain of nested requests. */
#pragma once

#include "managers.h"

#include <camkes/request.h>
#include <camkes/serve.h>

/* Calls the manager of the CPI that the running thread, a worker, belongs to. */
void camkes_ask_own_manager(const struct camkes_cpi *cpi, const struct camkes_context *context,
                            enum camkes_worker_operation operation);

#if CAMKES_MCS
/* Called by the manager: a request of the context is about to be aborted, maybe within a nested
 * one. */
void camkes_nested_abandon(struct camkes_context *context);
#endif
/* The running thread's request was aborted, in a group, or its job was stopped, maybe within a
 * nested one. */
void camkes_request_abandoned(void);

/* The message to the manager of a nested request that has the effective priority of a context. */
seL4_Word camkes_nested_update(const struct camkes_context *context);

/* Called by the manager, after it has raised the effective priority: sends that to the CPI of the
 * worker's nested request, if it has one. */
void camkes_nested_push(struct camkes_context *context);

/* After it has lowered it: when the criticality falls, it may be in a nested request. */
void camkes_nested_lower(struct camkes_context *context);
static inline void camkes_nested_fall(struct camkes_context *context)
{
    if (CAMKES_MCS && atomic_load(&context->nested) != 0) {
        camkes_nested_lower(context);
    }
}

/* The same, of a priority and the context that has it as its own, which pays. */
void camkes_nested_tell(struct camkes_context *context, uint8_t priority, uint16_t cause);

/* The same in a group: returns the slot of the manager that the update is for, 0: none. The manager
 * of the group passes it on. */
seL4_CPtr camkes_nested_found(struct camkes_context *context);
