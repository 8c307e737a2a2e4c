/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The clock of QEMU's machine for RISC-V, which counts nanoseconds and has an alarm. */
#include "timer.h"

enum {
    TIME_LOW = 0x00 / 4,
    TIME_HIGH = 0x04 / 4,
    ALARM_LOW = 0x08 / 4,
    ALARM_HIGH = 0x0c / 4,
    INTERRUPT = 0x10 / 4,
    CLEAR_ALARM = 0x14 / 4,
    CLEAR_INTERRUPT = 0x1c / 4,
};

volatile uint32_t _camkes_timer_registers[1024] __attribute__((aligned(4096), used));

const uint64_t camkes_timer_longest = UINT64_C(1000000000);

void camkes_timer_prepare(void)
{
    _camkes_timer_registers[CLEAR_ALARM] = 1;
    _camkes_timer_registers[CLEAR_INTERRUPT] = 1;
    _camkes_timer_registers[INTERRUPT] = 1;
}

void camkes_timer_alarm(uint64_t ns)
{
    /* the low half is read and the high half written first: each keeps the other half for us */
    const uint32_t low = _camkes_timer_registers[TIME_LOW];
    const uint64_t due = ((uint64_t)_camkes_timer_registers[TIME_HIGH] << 32 | low) + ns;
    _camkes_timer_registers[ALARM_HIGH] = (uint32_t)(due >> 32);
    _camkes_timer_registers[ALARM_LOW] = (uint32_t)due;
}

void camkes_timer_quiet(void)
{
    _camkes_timer_registers[CLEAR_INTERRUPT] = 1;
}
