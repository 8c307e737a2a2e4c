/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The timer driver: the timers of a system, and the device that interrupts when one is due. */
#pragma once

#include <sel4/sel4.h>
#include <stdint.h>

struct camkes_timer {
    seL4_CPtr notification;
    uint64_t next;   /* ns since boot */
    uint64_t period; /* ns, 0: once */
    uint64_t expirations;
    int armed;
    unsigned object; /* its number in traces */
};

/* Generated. */
extern struct camkes_timer camkes_timers[];
extern const unsigned camkes_timer_count;
extern const seL4_CPtr camkes_timer_endpoint;
extern const seL4_CPtr camkes_timer_reply;     /* reply object, on an MCS kernel */
extern const seL4_CPtr camkes_timer_interrupt; /* notification that the device signals */
extern const seL4_CPtr camkes_timer_handler;   /* of the device's interrupt */
extern const seL4_CPtr camkes_timer_ports;     /* of the device, 0: it has none */

/* Before time begins. */
void camkes_timer_prepare(void);
/* The longest time from now that the device can be set to. */
extern const uint64_t camkes_timer_longest;

/* Have the device interrupt once, in so many ns; a time that has come counts as very soon. */
void camkes_timer_alarm(uint64_t ns);
/* The device has interrupted. */
void camkes_timer_quiet(void);
