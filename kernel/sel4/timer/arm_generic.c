/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The physical timer of a 64-bit Arm core; the kernel itself uses the virtual one. */
#include "timer.h"

enum { DISABLED = 0, ENABLED = 1 };

/* its register of relative time has 31 bits */
const uint64_t camkes_timer_longest = UINT64_C(1000000000);

static void control(uint64_t word)
{
    __asm__ volatile("msr cntp_ctl_el0, %0; isb" : : "r"(word));
}

void camkes_timer_alarm(uint64_t ns)
{
    uint64_t frequency;
    __asm__("mrs %0, cntfrq_el0" : "=r"(frequency));
    const uint64_t ticks = ns * frequency / 1000000000 + 1;
    __asm__ volatile("msr cntp_tval_el0, %0" : : "r"(ticks));
    control(ENABLED);
}

void camkes_timer_quiet(void)
{
    control(DISABLED);
}
