/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The platform of the seL4 kernel; see start_sel4.c for how a thread gets here. */
#include "image_sel4.h"

#include "clock_sel4.h"
#include "trace_sel4.h"

#include <autoconf.h>
#include <camkes/error.h>
#include <camkes/platform.h>
#include <camkes/timer_protocol_sel4.h>
#include <stdlib.h>

#if defined(CONFIG_KERNEL_MCS)
void camkes_platform_delete(seL4_CPtr slot)
{
    camkes_must(seL4_CNode_Delete(camkes_sel4_image.cnode, slot, seL4_WordBits));
}
#else
seL4_Error camkes_platform_save_caller(const seL4_CPtr *slot)
{
    return seL4_CNode_SaveCaller(camkes_sel4_image.cnode, *slot, seL4_WordBits);
}
#endif

uint64_t camkes_platform_now(void)
{
    return camkes_sel4_now();
}

/*
 * Counts processor time, not elapsed time: a step of the clock that is longer than one turn of the
 * loop means that the thread was preempted.
 */
void camkes_platform_work(uint64_t ns)
{
    const uint64_t longest_step = 20000;
    uint64_t last = camkes_sel4_now();
    for (uint64_t worked = 0; worked < ns;) {
        const uint64_t now = camkes_sel4_now();
        if (now - last < longest_step) {
            worked += now - last;
        } else {
#if defined(CAMKES_TRACE_SEL4)
            camkes_sel4_trace_gap(last, now);
#endif
        }
        last = now;
    }
}

void camkes_platform_work_between(uint64_t low, uint64_t high)
{
    camkes_platform_work(low + (high - low) / 2);
}

static void ask_driver(seL4_CPtr timer, enum camkes_timer_request request, unsigned words)
{
    const seL4_MessageInfo_t answer = seL4_Call(timer, seL4_MessageInfo_new(request, 0, 0, words));
    if (seL4_MessageInfo_get_label(answer) != 0) {
        camkes_platform_fault(); /* it knows both requests */
    }
}

void camkes_platform_timer_arm(seL4_CPtr timer, uint64_t first, uint64_t period)
{
    camkes_timer_set_message_time(0, first);
    camkes_timer_set_message_time(2, period);
    ask_driver(timer, CAMKES_TIMER_ARM, 4);
}

uint64_t camkes_platform_timer_expirations(seL4_CPtr timer)
{
    ask_driver(timer, CAMKES_TIMER_EXPIRATIONS, 0);
    return camkes_timer_message_time(0);
}

/* It asks the clock, and not the driver, which signals when the same clock has this time: a
 * sporadic server would have its refill a period after a call to the driver, not after the release.
 * What was signalled for a time before is taken away. */
void camkes_platform_timer_await(seL4_CPtr timer, seL4_CPtr notification, uint64_t expirations,
                                 uint64_t time)
{
    (void)timer;
    (void)expirations;
    (void)seL4_Poll(notification, NULL);
    /* at most 1 time: it is signalled at this time, and all that came before was taken away */
    while (camkes_sel4_now() < time) {
        seL4_Wait(notification, NULL);
    }
}

void camkes_platform_fault(void)
{
    __builtin_trap();
}

/* abort() of the C library, which exit() ends with, too, only suspends the thread: no fault is
 * reported. A component may define its own. */
__attribute__((weak)) void abort(void)
{
    camkes_platform_fault();
}

/* assert() of the C library calls this. That of the library prints with the streams of a component,
 * and its caller is not found from its frame. */
__attribute__((weak)) _Noreturn void __assert_fail(const char *expression, const char *file,
                                                   int line, const char *function)
{
    camkes_fail("%s:%d: %s: assertion failed: %s", file, line, function, expression);
}

void camkes_platform_halt(void)
{
#ifdef CONFIG_DEBUG_BUILD
    seL4_DebugHalt();
#endif
    __builtin_trap();
}
