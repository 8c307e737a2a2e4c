/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The general purpose timer of an i.MX6: a counter that never stops, which is the clock too, and a
 * register that is compared with it. */
#include "timer.h"

#include "clock_sel4.h"

enum {
    CONTROL = 0x00 / 4,
    PRESCALER = 0x04 / 4,
    STATUS = 0x08 / 4,
    INTERRUPT = 0x0c / 4,
    COMPARE = 0x10 / 4,
};

/* of CONTROL: count always, from 0, with the peripherals' clock */
enum {
    ENABLE = 1u << 0,
    FROM_ZERO = 1u << 1,
    IN_WAIT = 1u << 3,
    IN_DOZE = 1u << 4,
    IN_STOP = 1u << 5,
    PERIPHERAL_CLOCK = 1u << 6,
    FREE_RUNNING = 1u << 9,
    RESET = 1u << 15,
};

/* of STATUS and INTERRUPT */
enum { COMPARED = 1u << 0, ALL = 0x3f };

#define TICKS_PER_SECOND 66000000

/* well below the time in which the counter runs over */
const uint64_t camkes_timer_longest = UINT64_C(20000000000);

void camkes_timer_prepare(void)
{
    _camkes_timer_registers[CONTROL] = RESET;
    while (_camkes_timer_registers[CONTROL] & RESET) {
    }
    _camkes_timer_registers[INTERRUPT] = 0;
    _camkes_timer_registers[STATUS] = ALL;
    _camkes_timer_registers[PRESCALER] = 0;
    const uint32_t mode = FROM_ZERO | IN_WAIT | IN_DOZE | IN_STOP | PERIPHERAL_CLOCK | FREE_RUNNING;
    _camkes_timer_registers[CONTROL] = mode;
    _camkes_timer_registers[CONTROL] = mode | ENABLE;
}

static uint32_t counter(void)
{
    return _camkes_timer_registers[CAMKES_SEL4_GPT_COUNTER];
}

void camkes_timer_alarm(uint64_t ns)
{
    uint32_t ticks = (uint32_t)(ns * (TICKS_PER_SECOND / 1000000) / 1000) + 1;
    _camkes_timer_registers[STATUS] = COMPARED;
    _camkes_timer_registers[INTERRUPT] = COMPARED;
    /* one that the counter has passed before it was written would be a whole round late */
    for (;; ticks *= 2) { /* at most 32 times: the counter has so many bits */
        const uint32_t due = counter() + ticks;
        _camkes_timer_registers[COMPARE] = due;
        if ((int32_t)(due - counter()) > 0 || (_camkes_timer_registers[STATUS] & COMPARED)) {
            return;
        }
    }
}

void camkes_timer_quiet(void)
{
    _camkes_timer_registers[INTERRUPT] = 0;
    _camkes_timer_registers[STATUS] = COMPARED;
}
