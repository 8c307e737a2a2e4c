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

/* Kinds of records that are in the ring only, and say when the thread that makes them runs. */
enum {
    CAMKES_SEL4_TRACE_RETURN = 128, /* it runs again after a kernel call that can block */
    CAMKES_SEL4_TRACE_GAP = 129,    /* it worked until, and did not run again before */
    CAMKES_SEL4_TRACE_FAILED = 130, /* its last kernel call was an error, and had no effect */
};

struct camkes_sel4_trace_entry {
    _Atomic uint16_t full;
    uint8_t kind;
    uint8_t arguments;
    uint16_t thread;
    uint16_t other;
    uint64_t time; /* in ticks of the clock */
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

/* The thread was preempted, and did not run between these times. */
void camkes_sel4_trace_gap(uint64_t from, uint64_t to);

/* Records text that a component writes. */
void camkes_sel4_trace_text(const char *text, size_t length);
