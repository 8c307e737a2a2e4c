/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: HOST-2 */
/* A thread that looks for a change of memory does so until its time slice ends; one that counts is
 * left alone, and one that looks in vain is stopped. */
#include <camkes/host.h>
#include <stdatomic.h>
#include <stdio.h>

enum { NOTE = 1, TIMER = 2 };

struct memory {
    volatile unsigned turn, late, never;
};
union {
    struct memory memory;
    char bytes[4096];
} shared __attribute__((aligned(4096)));

static void say(const char *what)
{
    printf("%3d ms: %s\n", (int)(camkes_host_now() / 1000000), what);
}

static void take_turns(unsigned index)
{
    for (unsigned i = 0; i < 3; i++) {
        while (shared.memory.turn % 2 != index) {
        }
        say(index == 0 ? "first" : "second");
        shared.memory.turn++;
    }
}

/* With nothing of the number in registers, where the processor can do that. */
static void count(void)
{
    static _Atomic unsigned long left = 50000000;
    while (atomic_fetch_sub(&left, 1) != 1) {
    }
}

void _camkes_thread(unsigned index)
{
    if (index < 2) {
        take_turns(index);
    } else if (index == 2) {
        count();
        say("counted in no time");
        while (!shared.memory.late) {
        }
        say("noticed");
        while (!shared.memory.never) {
        }
    } else {
        camkes_host_timer_arm(TIMER, 95000000, 0);
        seL4_Wait(NOTE, NULL);
        say("woken");
        shared.memory.late = 1;
    }
}
