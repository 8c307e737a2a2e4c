/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * One thread above all others: it signals the notifications of timers that are due, answers those
 * who hold a timer, and has the device interrupt when the next one is due.
 */
#include "timer.h"

#include "clock_sel4.h"
#include "image_sel4.h"

#include <camkes/platform.h>
#include <camkes/message_error.h>
#include <camkes/timer_protocol_sel4.h>
#include <camkes/trace.h>

/* The device's interrupt arrives with this badge; a timer's with its number, from 1. */
#define INTERRUPT ((seL4_Word)1 << 27)

#define NEVER UINT64_MAX

void _camkes_thread(unsigned index);

/* All timers that are due, before any thread that they wake runs: no other has this priority. */
static void signal_due(uint64_t now)
{
    /* at most timers times: each once */
    for (unsigned i = 0; i < camkes_timer_count; i++) {
        struct camkes_timer *timer = &camkes_timers[i];
        /* at most expired times: 1 where a period is longer than what the driver is late */
        while (timer->armed && timer->next <= now) {
            timer->expirations++;
            timer->next += timer->period;
            timer->armed = timer->period != 0;
            CAMKES_TRACE(TIMER, timer->object, timer->expirations);
            seL4_Signal(timer->notification);
        }
    }
}

/* Has the device interrupt when the first timer is due. It is set anew only where it has
 * interrupted or that time has changed: on some machines setting it takes several kernel calls. */
static void set_alarm(uint64_t now, int interrupted)
{
    static uint64_t alarm = NEVER; /* what the device is set to */
    uint64_t first = NEVER;
    camkes_sel4_note_time();
    /* at most timers times: each once */
    for (unsigned i = 0; i < camkes_timer_count; i++) {
        const struct camkes_timer *timer = &camkes_timers[i];
        if (timer->armed && timer->next < first) {
            first = timer->next;
        }
    }
#if defined(CAMKES_SEL4_COUNTER_OVERFLOWS)
    const bool any = true; /* the time is to be noted */
#else
    const bool any = first != NEVER;
#endif
    if (any && (interrupted || first != alarm)) {
        const uint64_t wait = first > now ? first - now : 0;
        camkes_timer_alarm(wait < camkes_timer_longest ? wait : camkes_timer_longest);
    }
    alarm = first;
}

static seL4_MessageInfo_t answer(struct camkes_timer *timer, seL4_Word request)
{
    switch (request) {
    case CAMKES_TIMER_ARM:
        timer->next = camkes_timer_message_time(0);
        timer->period = camkes_timer_message_time(2);
        timer->armed = timer->next != 0 || timer->period != 0;
        timer->expirations = 0;
        return seL4_MessageInfo_new(0, 0, 0, 0);
    case CAMKES_TIMER_EXPIRATIONS:
        camkes_timer_set_message_time(0, timer->expirations);
        return seL4_MessageInfo_new(0, 0, 0, 2);
    default:
        return seL4_MessageInfo_new(CAMKES_MESSAGE_OPERATION, 0, 0, 0);
    }
}

/* Serves those who hold timers, and the device. Not inlined: `camkes paths` bounds each turn. */
static __attribute__((noinline)) void camkes_drive_timers(void)
{
    signal_due(camkes_sel4_now());
    set_alarm(camkes_sel4_now(), 1);
    for (;;) {
        seL4_Word badge = 0;
        const seL4_MessageInfo_t info = camkes_platform_receive(camkes_timer_endpoint, &badge);
        if (badge >= INTERRUPT) {
            camkes_timer_quiet();
            camkes_must((seL4_Error)seL4_IRQHandler_Ack(camkes_timer_handler));
            signal_due(camkes_sel4_now());
        } else if (badge != 0 && badge <= camkes_timer_count) {
            camkes_platform_reply(
                answer(&camkes_timers[badge - 1], seL4_MessageInfo_get_label(info)));
            signal_due(camkes_sel4_now());
        }
        set_alarm(camkes_sel4_now(), badge >= INTERRUPT);
    }
}

void _camkes_thread(unsigned index)
{
#if defined(CONFIG_KERNEL_MCS)
    static struct camkes_thread self;
    self.reply = camkes_timer_reply;
    self.number = camkes_sel4_image.threads[index].number;
    camkes_set_self(&self);
#endif
    camkes_timer_prepare();
    camkes_sel4_begin_time();
    camkes_must(
        seL4_TCB_BindNotification(camkes_sel4_image.threads[index].tcb, camkes_timer_interrupt));
    camkes_drive_timers();
}
