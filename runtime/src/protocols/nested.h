/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Propagation of priorities along a chain of nested requests. `nested` and `pushed` hold a mark:
 * the slot of the manager that handles the thread's nested request, and the number of the request.
 */
#pragma once

#include <camkes/cpi.h>

#define CAMKES_MARK_SLOT_BITS 16

static inline uintptr_t camkes_mark(seL4_CPtr manager, seL4_Word sequence)
{
    return (uintptr_t)manager | (uintptr_t)(sequence << CAMKES_MARK_SLOT_BITS);
}

static inline seL4_CPtr camkes_mark_manager(uintptr_t mark)
{
    return mark & (((uintptr_t)1 << CAMKES_MARK_SLOT_BITS) - 1);
}

/* Calls a manager; a refusal is a fatal error, reported with the name `cpi`. */
void camkes_ask_manager(seL4_CPtr manager, seL4_Word label, const char *cpi);
void camkes_manager_failed(const char *cpi) __attribute__((cold, noreturn));

/* Called by the manager: sends `priority` to the CPI of the worker's nested request, if it has one.
 */
void camkes_nested_push(struct camkes_context *context, uint8_t priority);
