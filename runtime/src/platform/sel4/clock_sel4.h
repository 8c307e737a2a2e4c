/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* A clock that user code can read on seL4. */
#pragma once

#include <autoconf.h>
#include <stdint.h>

/* Nanoseconds since the timer driver set the epoch; without a driver, since some moment before
 * boot. */
uint64_t camkes_sel4_now(void);

/* The counter itself, and the time of a value of it, which is not before the epoch. */
uint64_t camkes_sel4_read_ticks(void);
uint64_t camkes_sel4_time_of(uint64_t instant);

/* Called by the timer driver: sets the epoch of all address spaces to now. */
void camkes_sel4_begin_time(void);

/* Called by the timer driver periodically: records the time, where the counter can overflow. */
void camkes_sel4_note_time(void);

/* A page shared by all address spaces: the ticks at the epoch, then the ticks recorded last. */
extern volatile uint64_t _camkes_epoch[512];

#if defined(CONFIG_ARCH_ARM)

/* Ticks per second of the generic timer, both of its counter and of its alarms. */
static inline uint64_t camkes_sel4_generic_timer_frequency(void)
{
#if defined(CONFIG_ARCH_AARCH64)
    uint64_t frequency;
    __asm__("mrs %0, cntfrq_el0" : "=r"(frequency));
#else
    uint32_t frequency;
    __asm__("mrc p15, 0, %0, c14, c0, 0" : "=r"(frequency));
#endif
    return frequency;
}

#endif

#if defined(CONFIG_ARCH_X86)

/* The loader copies the kernel's boot information about the time stamp counter to this memory. */
extern char _camkes_boot_clock[4096];

static inline uint64_t camkes_sel4_ticks(void)
{
    uint32_t low;
    uint32_t high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
}

#elif defined(CONFIG_EXPORT_VCNT_USER)

static inline uint64_t camkes_sel4_ticks(void)
{
    uint64_t ticks;
#if defined(CONFIG_ARCH_AARCH64)
    __asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(ticks));
#else
    __asm__ volatile("isb; mrrc p15, 1, %Q0, %R0, c14" : "=r"(ticks));
#endif
    return ticks;
}

#elif defined(CONFIG_PLAT_IMX6) && !defined(CAMKES_CLOCK_STOPPED)

#define CAMKES_SEL4_COUNTER_OVERFLOWS

/* The registers of the general purpose timer. Only the timer driver can write to them. */
extern volatile uint32_t _camkes_timer_registers[1024];

enum { CAMKES_SEL4_GPT_COUNTER = 0x24 / 4 };

/* The counter has 32 bits. The timer driver records the ticks at least once per overflow, and may
 * do so while this function runs. */
static inline uint64_t camkes_sel4_ticks(void)
{
    uint64_t before;
    uint32_t since;
    do {
        before = _camkes_epoch[1];
        since = _camkes_timer_registers[CAMKES_SEL4_GPT_COUNTER] - (uint32_t)before;
    } while (before != _camkes_epoch[1]);
    return before + since;
}

#elif defined(CONFIG_ARCH_RISCV)

static inline uint64_t camkes_sel4_ticks(void)
{
#if __riscv_xlen == 64
    uint64_t ticks;
    __asm__ volatile("rdtime %0" : "=r"(ticks));
    return ticks;
#else
    uint32_t high, low, again;
    do {
        __asm__ volatile("rdtimeh %0; rdtime %1; rdtimeh %2"
                         : "=&r"(high), "=&r"(low), "=r"(again));
    } while (high != again);
    return (uint64_t)high << 32 | low;
#endif
}

#endif
