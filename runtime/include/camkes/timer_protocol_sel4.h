/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Messages between the owner of a timer and the timer driver on seL4. The badge identifies the
 * timer. */
#pragma once

#include <sel4/sel4.h>
#include <stdint.h>

/* Labels. The driver answers as managers do. */
enum camkes_timer_request {
    CAMKES_TIMER_ARM = 1,        /* message: first, period; empty reply */
    CAMKES_TIMER_EXPIRATIONS = 2 /* reply: the number of expirations */
};

/* A time takes two words, since a word may have 32 bits. */
static inline void camkes_timer_set_message_time(int at, uint64_t time)
{
    seL4_SetMR(at, (seL4_Word)(time & 0xffffffffu));
    seL4_SetMR(at + 1, (seL4_Word)(time >> 32));
}

static inline uint64_t camkes_timer_message_time(int at)
{
    return (uint64_t)seL4_GetMR(at) | (uint64_t)seL4_GetMR(at + 1) << 32;
}
