/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The i8254 timer of a PC, channel 0: counts down once and interrupts. */
#include "timer.h"

enum { CHANNEL_0 = 0x40, COMMAND = 0x43, ONCE_LOW_HIGH = 0x30 };

#define TICKS_PER_SECOND 1193182u
#define TICKS_MOST 0xffffu

const uint64_t camkes_timer_longest = UINT64_C(1000000000) * TICKS_MOST / TICKS_PER_SECOND;

void camkes_timer_prepare(void)
{
    /* it is always ready */
}

void camkes_timer_alarm(uint64_t ns)
{
    uint64_t ticks = ns * TICKS_PER_SECOND / 1000000000 + 1;
    if (ticks > TICKS_MOST) {
        ticks = TICKS_MOST;
    }
    seL4_X86_IOPort_Out8(camkes_timer_ports, COMMAND, ONCE_LOW_HIGH);
    seL4_X86_IOPort_Out8(camkes_timer_ports, CHANNEL_0, ticks & 0xff);
    seL4_X86_IOPort_Out8(camkes_timer_ports, CHANNEL_0, ticks >> 8);
}

void camkes_timer_quiet(void)
{
    /* it interrupts once */
}
