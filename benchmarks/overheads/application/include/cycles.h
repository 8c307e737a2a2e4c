/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* A counter that QEMU advances with each instruction, if counting is enabled. */
#pragma once

#include <stdint.h>

static inline __attribute__((always_inline)) uint64_t cycles(void)
{
#if defined(__x86_64__) || defined(__i386__)
    uint32_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high) : : "memory");
    return (uint64_t)high << 32 | low;
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
    return ticks;
#elif defined(__riscv)
    uint64_t count; /* of cycles: a step of the time is 100 of them in QEMU */
    __asm__ volatile("rdcycle %0" : "=r"(count) : : "memory");
    return count;
#else
#error "no counter is known"
#endif
}
