/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The counters of processors that user code can read, and their frequencies. */
#include "clock_sel4.h"

#include <sel4/sel4.h>

#if defined(CONFIG_ARCH_X86)

char _camkes_boot_clock[4096] __attribute__((aligned(4096), used));

/* The frequency in MHz, measured by the kernel at boot, follows a header in the boot information.
 */
static uint64_t ticks_per_second(void)
{
    const seL4_BootInfoHeader *header = (const void *)_camkes_boot_clock;
    const uint32_t *mhz = (const void *)(header + 1);
    return header->id == SEL4_BOOTINFO_HEADER_X86_TSC_FREQ ? *mhz * UINT64_C(1000000) : 1000000000;
}

#elif defined(CONFIG_EXPORT_VCNT_USER)

static uint64_t ticks_per_second(void)
{
    return camkes_sel4_generic_timer_frequency();
}

#elif defined(CONFIG_PLAT_IMX6) && !defined(CAMKES_CLOCK_STOPPED)

volatile uint32_t _camkes_timer_registers[1024] __attribute__((aligned(4096), used));

/* The frequency of the peripherals' clock. */
static uint64_t ticks_per_second(void)
{
    return 66000000;
}

#elif defined(CONFIG_ARCH_RISCV)

/* The frequency comes from the device tree. */
#if !defined(CAMKES_TIMEBASE)
#define CAMKES_TIMEBASE 10000000
#endif

static uint64_t ticks_per_second(void)
{
    return CAMKES_TIMEBASE;
}

#else

static uint64_t ticks_per_second(void)
{
    return 1000000000;
}

/* User code cannot read a clock on this machine, or nothing drives it: each reading advances the
 * time by 1 us, so that loops which wait for a time end. */
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

void camkes_sel4_note_time(void)
{
#if defined(CAMKES_SEL4_COUNTER_OVERFLOWS)
    _camkes_epoch[1] = camkes_sel4_ticks();
#endif
}

uint64_t camkes_sel4_read_ticks(void)
{
    return camkes_sel4_ticks();
}

uint64_t camkes_sel4_now(void)
{
    return camkes_sel4_time_of(camkes_sel4_ticks());
}

uint64_t camkes_sel4_time_of(uint64_t instant)
{
    static uint64_t frequency;
    if (frequency == 0) {
        frequency = ticks_per_second();
    }
    const uint64_t ticks = instant - _camkes_epoch[0];
    return ticks / frequency * 1000000000 + ticks % frequency * 1000000000 / frequency;
}
