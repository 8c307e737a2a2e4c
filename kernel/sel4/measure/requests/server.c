/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* A server whose result is the time at which its handler executes. */
#include <camkes.h>
#include <cycles.h>

/* The time when the handler can go on after `client` was released. A `fixed` CPI executes at the
 * priority of `client`, which can ask for it only after a yield; with MCS, a manager has it wait. Apart,
 * so that all handlers have the same instructions otherwise. */
static __attribute__((noinline)) uint64_t release_client(void)
{
#ifdef RELEASES
    client_emit();
#if defined(YIELDS) && !defined(CONFIG_KERNEL_MCS)
    seL4_Yield();
#endif
#else
    __asm__ volatile("");
#endif
    return cycles();
}

uint64_t p_now(uint64_t release)
{
    return release != 0 ? release_client() : cycles();
}
