/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* What managers ask the kernel for, and cannot go on without: a refusal ends them, with a message.
 */
#pragma once

#include <camkes/error.h>
#include <camkes/platform.h>

/* Apart, so that setting a priority keeps nothing for it in registers. */
static _Noreturn __attribute__((noinline, cold)) void
camkes_priority_refused(const struct camkes_thread *thread, uint8_t priority, seL4_Error error)
{
    camkes_fail("thread %s cannot be set to priority %u: kernel error %d", thread->name, priority,
                (int)error);
}

/* Sets the priority of a thread of the instance; that this fails is a fatal error. */
CAMKES_INLINE_HERE void camkes_set_priority(const struct camkes_thread *thread, seL4_CPtr authority,
                                            uint8_t priority)
{
    const seL4_Error error = seL4_TCB_SetPriority(thread->tcb, authority, priority);
    if (error != seL4_NoError) {
        camkes_priority_refused(thread, priority, error);
    }
}

/* Keeps the reply to the last message in `slot`, for a waiter whose name is read only if that
 * fails.
 */
static inline void camkes_keep_reply(seL4_CPtr *slot, const char *const *waiter)
{
    const seL4_Error error = camkes_platform_save_caller(slot);
    if (CAMKES_UNLIKELY(error != seL4_NoError)) {
        camkes_fail("a reply to %s cannot be kept for later: kernel error %d", *waiter, (int)error);
    }
}
