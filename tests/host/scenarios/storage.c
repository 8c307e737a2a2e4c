/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: HOST-26 */
/* Thread-local variables and errno belong to a thread; floating-point settings too. */
#include <camkes/host.h>
#include <errno.h>
#include <fenv.h>
#include <stdio.h>

static _Thread_local unsigned mine = 7;
static _Thread_local char text[64];
static unsigned shared;

void _camkes_thread(unsigned index)
{
    printf("thread %u begins with %u \"%s\"\n", index, mine, text);
    mine += index;
    snprintf(text, sizeof text, "text of %u", index);
    errno = (int)index;
    fesetround(index == 1 ? FE_UPWARD : FE_DOWNWARD);
    shared++;
    camkes_host_work(10);
    seL4_Yield();
    volatile double one = 1.0, three = 3.0;
    printf("thread %u has %u \"%s\" %d %s, shared %u\n", index, mine, text, errno,
           one / three * three > 0.999999999999999999 ? "up" : "down", shared);
}
