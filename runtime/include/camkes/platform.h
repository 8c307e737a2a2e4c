/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * What differs between the kernels, and nothing else does: `src/platform_host.c` and
 * `src/platform_sel4.c` implement it. Everything else calls the seL4 API only.
 */
#pragma once

#include <camkes/trace.h>
#include <sel4/sel4.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef CAMKES_KERNEL_HOST
#define CAMKES_KERNEL_HOST 0
#endif

#if CAMKES_KERNEL_HOST

#include <camkes/host.h>

/* A place between two steps of a protocol where a preemption may be tried. */
static inline void camkes_point(void)
{
    camkes_host_point();
}

/* Writes a trace record: CAMKES_TRACE(LOCK_TAKE, cpi, context). */
#define CAMKES_TRACE(kind, ...) CAMKES_TRACE_ABOUT(kind, CAMKES_TRACE_NOBODY, __VA_ARGS__)
#define CAMKES_TRACE_ABOUT(kind, other, ...)                                                       \
    camkes_host_annotate(CAMKES_TRACE_##kind, (uint16_t)(other),                                   \
                         sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t),                     \
                         (const uint64_t[]){__VA_ARGS__})

#else

static inline void camkes_point(void)
{
}

#if defined(CAMKES_TRACE_SEL4)

void camkes_sel4_trace(uint16_t kind, uint16_t other, unsigned count, const uint64_t *arguments);

#define CAMKES_TRACE(kind, ...) CAMKES_TRACE_ABOUT(kind, CAMKES_TRACE_NOBODY, __VA_ARGS__)
#define CAMKES_TRACE_ABOUT(kind, other, ...)                                                       \
    camkes_sel4_trace(CAMKES_TRACE_##kind, (uint16_t)(other),                                      \
                      sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t),                        \
                      (const uint64_t[]){__VA_ARGS__})

#else

/* The arguments are type-checked and not evaluated. */
#define CAMKES_TRACE(kind, ...) ((void)sizeof((uint64_t[]){__VA_ARGS__}))
#define CAMKES_TRACE_ABOUT(kind, other, ...) ((void)sizeof((uint64_t[]){(other), __VA_ARGS__}))

#endif
#endif

#define CAMKES_TRACE_NOBODY 65535

/* Moves the capability to reply to the last received Call into an empty slot. */
void camkes_platform_save_caller(seL4_CPtr slot);

/* A Call whose whole message is its label; it leaves the message registers as they are. */
void camkes_platform_call(seL4_CPtr endpoint, seL4_Word label);

/* Virtual or real nanoseconds since boot. */
uint64_t camkes_platform_now(void);
void camkes_platform_work(uint64_t ns);
void camkes_platform_work_between(uint64_t low, uint64_t high);

/* A timer signals its notification at `first` and then every `period` ns; 0, 0 stops it. */
void camkes_platform_timer_arm(seL4_CPtr timer, uint64_t first, uint64_t period);
/* How often it has since it was armed. */
uint64_t camkes_platform_timer_expirations(seL4_CPtr timer);

void camkes_platform_write(const char *text, size_t length);
/* Makes the running thread fault, so that it is reported and the others go on. */
_Noreturn void camkes_platform_fault(void);
/* Ends the whole run where the kernel can. */
_Noreturn void camkes_platform_halt(void);
