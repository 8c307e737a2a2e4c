/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * The counter that all is measured with. QEMU advances it with each instruction, if counting is
 * enabled; with MEASURE_ON_BOARD it is that of a processor's cycles.
 */
#pragma once

#if __has_include(<about.h>)
#include <about.h> /* what an image prints first; benchmarks have none */
#endif
#include <stdint.h>

#if defined(__x86_64__)
#define COUNTER "tsc"
#elif defined(__aarch64__) && defined(MEASURE_ON_BOARD)
#define COUNTER "pmccntr"
#elif defined(__aarch64__)
#define COUNTER "cntvct"
#elif defined(__riscv) && __riscv_xlen == 64
#define COUNTER "cycle"
#else
#error "no counter of 64 bits is known"
#endif

static inline __attribute__((always_inline)) uint64_t cycles(void)
{
#if defined(__x86_64__)
    uint32_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high) : : "memory");
    return (uint64_t)high << 32 | low;
#elif defined(__aarch64__) && defined(MEASURE_ON_BOARD)
    uint64_t count;
    __asm__ volatile("isb; mrs %0, pmccntr_el0" : "=r"(count) : : "memory");
    return count;
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
    return ticks;
#else
    uint64_t count; /* a step of the time is 100 of them in QEMU */
    __asm__ volatile("rdcycle %0" : "=r"(count) : : "memory");
    return count;
#endif
}

/* The counter may have to be enabled; it is then for all components. */
static inline void cycles_begin(void)
{
#if defined(__aarch64__) && defined(MEASURE_ON_BOARD)
    const uint64_t enabled = 1, whole = 1 << 6;                         /* 64 bits, not 32 */
    const uint64_t cycle_counter = (uint64_t)1 << 31, at_el2 = 1 << 27; /* too */
    uint64_t control;
    __asm__ volatile("mrs %0, pmcr_el0" : "=r"(control));
    __asm__ volatile("msr pmccfiltr_el0, %0" : : "r"(at_el2));
    __asm__ volatile("msr pmcntenset_el0, %0" : : "r"(cycle_counter));
    __asm__ volatile("msr pmcr_el0, %0; isb" : : "r"(control | enabled | whole));
#endif
}
