/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The physical timer of an Arm core; the kernel itself uses the virtual one. */
#include "clock_sel4.h"
#include "timer.h"

enum { DISABLED = 0, ENABLED = 1 };

/* its register of relative time has 31 bits */
const uint64_t camkes_timer_longest = UINT64_C(1000000000);

static void control(uint64_t word)
{
#if defined(CONFIG_ARCH_AARCH64)
    __asm__ volatile("msr cntp_ctl_el0, %0; isb" : : "r"(word));
#else
    __asm__ volatile("mcr p15, 0, %0, c14, c2, 1; isb" : : "r"((uint32_t)word));
#endif
}

void camkes_timer_prepare(void)
{
    /* it is always ready */
}

void camkes_timer_alarm(uint64_t ns)
{
    const uint64_t ticks = ns * camkes_sel4_generic_timer_frequency() / 1000000000 + 1;
#if defined(CONFIG_ARCH_AARCH64)
    __asm__ volatile("msr cntp_tval_el0, %0" : : "r"(ticks));
#else
    __asm__ volatile("mcr p15, 0, %0, c14, c2, 0" : : "r"((uint32_t)ticks));
#endif
    control(ENABLED);
}

void camkes_timer_quiet(void)
{
    control(DISABLED);
}
