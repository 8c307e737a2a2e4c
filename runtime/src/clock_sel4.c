/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include "clock_sel4.h"

#include <sel4/sel4.h>

#if defined(CONFIG_ARCH_X86)

char _camkes_boot_clock[4096] __attribute__((aligned(4096), used));

/* The kernel measured it at boot, in MHz; it follows a header of the boot information. */
static uint64_t ticks_per_second(void)
{
    const seL4_BootInfoHeader *header = (const void *)_camkes_boot_clock;
    const uint32_t *mhz = (const void *)(header + 1);
    return header->id == SEL4_BOOTINFO_HEADER_X86_TSC_FREQ ? *mhz * UINT64_C(1000000) : 1000000000;
}

#elif defined(CONFIG_ARCH_AARCH64)

static uint64_t ticks_per_second(void)
{
    uint64_t frequency;
    __asm__("mrs %0, cntfrq_el0" : "=r"(frequency));
    return frequency;
}

#else

static uint64_t ticks_per_second(void)
{
    return 1000000000;
}

/* No clock is open to user code: time stands still, and work takes none. */
static uint64_t camkes_sel4_ticks(void)
{
    static uint64_t ticks;
    return ticks += 1000;
}

#endif

volatile uint64_t _camkes_epoch[512] __attribute__((aligned(4096), used));

void camkes_sel4_begin_time(void)
{
    _camkes_epoch[0] = camkes_sel4_ticks();
}

uint64_t camkes_sel4_now(void)
{
    static uint64_t frequency;
    if (frequency == 0) {
        frequency = ticks_per_second();
    }
    const uint64_t ticks = camkes_sel4_ticks() - _camkes_epoch[0];
    return ticks / frequency * 1000000000 + ticks % frequency * 1000000000 / frequency;
}
