/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: RT-36 */
/* Waiting for a release on seL4: the clock is asked, and the timer driver is not called. */
#define _POSIX_C_SOURCE 200809L
#include "log.h"

#include <camkes/error.h>
#include <clock_sel4.h>
#include <stdlib.h>

enum { TIMER = 5, NOTIFICATION };

static seL4_IPCBuffer buffer;
static uint64_t now;

seL4_IPCBuffer *seL4_GetIPCBuffer(void)
{
    return &buffer;
}

uint64_t camkes_sel4_now(void)
{
    return now;
}

seL4_MessageInfo_t seL4_Call(seL4_CPtr to, seL4_MessageInfo_t info)
{
    note("call %lu\n", (unsigned long)to);
    return info;
}

seL4_MessageInfo_t seL4_Poll(seL4_CPtr notification, seL4_Word *badge)
{
    (void)badge;
    note("poll %lu\n", (unsigned long)notification);
    return seL4_MessageInfo_new(0, 0, 0, 0);
}

void seL4_Wait(seL4_CPtr notification, seL4_Word *badge)
{
    (void)badge;
    note("wait %lu\n", (unsigned long)notification);
    now += 40;
    need(now < 1000, "it waits for ever");
}

void camkes_fail(const char *format, ...)
{
    printf("%s\n", format);
    _Exit(1);
}

int main(void)
{
    camkes_platform_timer_await(TIMER, NOTIFICATION, 1, 100);
    need_done("poll 6\nwait 6\nwait 6\nwait 6\n"); /* signals for times before do not count */
    camkes_platform_timer_await(TIMER, NOTIFICATION, 2, 120);
    need_done("poll 6\n"); /* it is that time */
    camkes_platform_timer_await(TIMER, NOTIFICATION, 3, 121);
    need_done("poll 6\nwait 6\n");
    puts("good");
    return 0;
}
