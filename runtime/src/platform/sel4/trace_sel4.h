/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Traces on seL4: a ring buffer in memory shared by all address spaces. Each record takes the next
 * entry; a thread of the lowest priority prints the entries when no other thread is runnable.
 */
#pragma once

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define CAMKES_SEL4_TRACE_ARGUMENTS 5

struct camkes_sel4_trace_entry {
    _Atomic uint16_t full;
    uint8_t kind;
    uint8_t arguments;
    uint16_t thread;
    uint16_t other;
    uint64_t time;
    uint64_t argument[CAMKES_SEL4_TRACE_ARGUMENTS];
};

#define CAMKES_SEL4_TRACE_BYTES 0x400000
#define CAMKES_SEL4_TRACE_ENTRIES                                                                  \
    ((CAMKES_SEL4_TRACE_BYTES - 64) / sizeof(struct camkes_sel4_trace_entry))

struct camkes_sel4_trace {
    _Atomic uint32_t taken;
    _Atomic uint32_t lost;
    uint32_t unused[14];
    struct camkes_sel4_trace_entry entry[CAMKES_SEL4_TRACE_ENTRIES];
};

/* The shared pages. */
extern char _camkes_trace[CAMKES_SEL4_TRACE_BYTES];

/* Records text that a component writes. */
void camkes_sel4_trace_text(const char *text, size_t length);
