/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Two threads pass control to and fro; the first one measures. Run by host_switch.py. */
#include <camkes/host.h>
#include <stdio.h>
#include <time.h>

enum { ENDPOINT = 1, BATCHES = 200, ROUNDS = 500 };

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* The best of many short batches: other programs of the workstation do not count. */
static double best(void operation(void))
{
    double least = 1e12;
    for (int batch = 0; batch < BATCHES; batch++) {
        double start = now();
        for (int i = 0; i < ROUNDS; i++) {
            operation();
        }
        double time = (now() - start) / ROUNDS;
        least = time < least ? time : least;
    }
    return least;
}

static void call(void)
{
    seL4_Call(ENDPOINT, seL4_MessageInfo_new(0, 0, 0, 2));
}

static void client(void)
{
    double yield = best(seL4_Yield) / 2;
    printf("%.1f %.1f\n", yield, best(call));
    seL4_DebugHalt();
}

static void server(void)
{
    for (int i = 0; i < BATCHES * ROUNDS; i++) {
        seL4_Yield();
    }
    seL4_Recv(ENDPOINT, NULL);
    for (;;) {
        seL4_ReplyRecv(ENDPOINT, seL4_MessageInfo_new(0, 0, 0, 1), NULL);
    }
}

void _camkes_thread(unsigned index)
{
    index == 0 ? client() : server();
}
