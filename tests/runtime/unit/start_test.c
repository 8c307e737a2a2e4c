/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Threads that come to the gate before it is opened wait there, and later ones do not. */
#include <camkes/instance.h>
#include <stdio.h>
#include <stdlib.h>

enum { GATE = 1, READY = 2 };

static unsigned sent[3], received[3];
static seL4_IPCBuffer buffer;

seL4_IPCBuffer *seL4_GetIPCBuffer(void)
{
    return &buffer;
}

void seL4_Send(seL4_CPtr endpoint, seL4_MessageInfo_t info)
{
    (void)info;
    sent[endpoint]++;
}

seL4_MessageInfo_t seL4_Recv(seL4_CPtr endpoint, seL4_Word *badge)
{
    (void)badge;
    received[endpoint]++;
    return seL4_MessageInfo_new(0, 0, 0, 0);
}

static _Atomic unsigned *meanwhile; /* another thread announces itself at the next point */

void camkes_host_point(void)
{
    if (meanwhile != NULL) {
        ++*meanwhile;
        meanwhile = NULL;
    }
}

struct camkes_thread *const camkes_threads[1];

static void need(bool good, const char *what)
{
    if (!good) {
        printf("%s\n", what);
        exit(1);
    }
}

int main(void)
{
    struct camkes_start start = {.gate = GATE, .ready = READY, .interfaces = 2};
    const struct camkes_instance instance = {.name = "instance", .start = &start};

    camkes_start_interface(&instance, NULL);
    need(sent[READY] == 1 && received[GATE] == 1, "the first interface has started");
    camkes_start_interface(&instance, NULL);
    need(sent[READY] == 3 && received[GATE] == 2, "the last one says so again");
    camkes_start_interfaces(&instance);
    need(received[READY] == 3, "the control thread waits for all of them");

    camkes_start_wait(&instance);
    need(received[GATE] == 3, "a thread waits at the gate");
    meanwhile = &start.waiting;
    camkes_start_wait(&instance);
    need(received[GATE] == 4, "one that comes at the same time as another");
    camkes_start_open(&instance);
    need(sent[GATE] == 5, "all who wait are let through");
    camkes_start_wait(&instance);
    need(received[GATE] == 4 && sent[GATE] == 5, "a thread that comes later does not wait");
    printf("good\n");
    return 0;
}
