/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * The i8254 timer of a PC, channel 0: counts down once and interrupts.
 *
 * The kernel says the frequency of the time stamp counter in whole MHz, so that the clock can be
 * off by one part in a thousand, which would make alarms late by as much. Alarms are set in the
 * time of the clock: how long the timer's ticks are in it is measured once.
 */
#include "timer.h"

#include "clock_sel4.h"

#include <camkes/platform.h>

enum { CHANNEL_0 = 0x40, COMMAND = 0x43, LATCH = 0x00, ONCE_LOW_HIGH = 0x30 };

#define TICKS_MOST 0xffffu
/* 20 ms, after which two readings that are off by a tick each change the rate by 84 millionths. */
#define TICKS_MEASURED 23864u

/* The least and the most ns that a tick can take: the clock is off by less than 10 %. */
const uint64_t camkes_timer_longest = UINT64_C(750) * TICKS_MOST;

/* `measured_ns` is what `measured_ticks` take. */
static uint64_t measured_ns, measured_ticks;

static void set(unsigned ticks)
{
    seL4_X86_IOPort_Out8(camkes_timer_ports, COMMAND, ONCE_LOW_HIGH);
    seL4_X86_IOPort_Out8(camkes_timer_ports, CHANNEL_0, ticks & 0xff);
    seL4_X86_IOPort_Out8(camkes_timer_ports, CHANNEL_0, ticks >> 8);
}

static uint8_t read_byte(void)
{
    const seL4_X86_IOPort_In8_t found = seL4_X86_IOPort_In8(camkes_timer_ports, CHANNEL_0);
    camkes_must((seL4_Error)found.error);
    return found.result;
}

static unsigned ticks_left(void)
{
    seL4_X86_IOPort_Out8(camkes_timer_ports, COMMAND, LATCH);
    const unsigned low = read_byte();
    return (unsigned)read_byte() << 8 | low;
}

void camkes_timer_prepare(void)
{
    set(TICKS_MOST);
    const unsigned first = ticks_left();
    const uint64_t begin = camkes_sel4_now();
    unsigned left = first;
    uint64_t end = begin;
    while (first - left < TICKS_MEASURED) {
        left = ticks_left();
        end = camkes_sel4_now();
    }
    measured_ns = end - begin;
    measured_ticks = first - left;
}

void camkes_timer_alarm(uint64_t ns)
{
    const uint64_t ticks = ns * measured_ticks / measured_ns + 1;
    set(ticks < TICKS_MOST ? (unsigned)ticks : TICKS_MOST);
}

void camkes_timer_quiet(void)
{
    /* it interrupts once */
}
