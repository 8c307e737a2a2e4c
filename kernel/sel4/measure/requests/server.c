/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* A server whose result is the time at which its handler executes. */
#include <camkes.h>
#include <cycles.h>

/* The time when the handler can go on after `client` was released. Apart, so that all handlers have
 * the same instructions otherwise. */
static __attribute__((noinline)) uint64_t release_client(void)
{
#ifdef RELEASES
    client_emit();
#else
    __asm__ volatile("");
#endif
    return cycles();
}

uint64_t p_now(uint64_t release)
{
    return release != 0 ? release_client() : cycles();
}
