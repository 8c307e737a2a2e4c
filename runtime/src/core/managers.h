/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Calls of managers: of CPIs, groups and tasks, and of schedulers, the time manager and the
 * handlers of overruns. Every message to a manager is a call, and its answer is not dropped. Where
 * it can be refused, the caller looks at it; else a refusal is a fatal error, reported with the
 * name of the manager.
 */
#pragma once

#include <camkes/label.h>
#include <camkes/message_error.h>

/* Calls with a message of so many words. Returns the answer: an error or CAMKES_MESSAGE_GOOD. */
static inline seL4_Word camkes_call_manager(seL4_CPtr manager, seL4_Word label, unsigned words)
{
    return seL4_MessageInfo_get_label(seL4_Call(manager, seL4_MessageInfo_new(label, 0, 0, words)));
}

void camkes_manager_failed(const char *name) __attribute__((cold, noreturn));
static inline void camkes_must_grant(seL4_Word answer, const char *name)
{
    if (CAMKES_UNLIKELY(answer != CAMKES_MESSAGE_GOOD)) {
        camkes_manager_failed(name);
    }
}

/* Both, with a message without words; keeps the message registers. */
void camkes_ask_manager(seL4_CPtr manager, seL4_Word label, const char *name);

/* The same in place, for what is on the path of every contended request. */
static inline void camkes_ask_manager_here(seL4_CPtr manager, seL4_Word label, const char *name)
{
    camkes_must_grant(camkes_platform_call(manager, label), name);
}
