/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* A clock that user code can read on seL4. */
#pragma once

#include <autoconf.h>
#include <stdint.h>

/* Nanoseconds since time began, or since some moment before boot where no timer driver says when.
 */
uint64_t camkes_sel4_now(void);

/* The timer driver: time begins now, for all address spaces. */
void camkes_sel4_begin_time(void);

/* A page that all address spaces share: the ticks at which time began. */
extern volatile uint64_t _camkes_epoch[512];

#if defined(CONFIG_ARCH_X86)

/* Memory that the loader fills with the kernel's boot information about the time stamp counter. */
extern char _camkes_boot_clock[4096];

static inline uint64_t camkes_sel4_ticks(void)
{
    uint32_t low;
    uint32_t high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
}

#elif defined(CONFIG_ARCH_AARCH64)

static inline uint64_t camkes_sel4_ticks(void)
{
    uint64_t ticks;
    __asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}

#endif
