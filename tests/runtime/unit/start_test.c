/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: RT-34 */
/* Threads that come to the gate before it is opened wait there, and later ones do not. */
#include <camkes/instance.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GATE = 1, READY = 2 };

static unsigned sent[3], received[3];
static seL4_IPCBuffer buffer;
static int recorded = -1;

static void need(bool good, const char *what)
{
    if (!good) {
        printf("%s\n", what);
        exit(1);
    }
}

/* The one record: of how many threads the gate lets go on. */
void camkes_host_annotate(uint16_t kind, uint16_t other, unsigned n, const uint64_t *args)
{
    need(kind == CAMKES_TRACE_STARTED && other == CAMKES_TRACE_NO_NUMBER && n == 1, "a record");
    recorded = (int)args[0];
}

seL4_IPCBuffer *seL4_GetIPCBuffer(void)
{
    return &buffer;
}

void seL4_Send(seL4_CPtr endpoint, seL4_MessageInfo_t info)
{
    need(info.words[0] == 0, "a message that is not empty");
    sent[endpoint]++;
}

#if CAMKES_MCS
static unsigned passive, passive_started, passive_open;

unsigned camkes_platform_passive(const struct camkes_instance *instance)
{
    return instance->start->lent.gate != 0 ? passive : 0;
}

void camkes_platform_start_passive(const struct camkes_instance *instance)
{
    (void)instance;
    passive_started += 1 + 10 * received[READY];
}

void camkes_platform_open_passive(const struct camkes_instance *instance)
{
    (void)instance;
    passive_open += 1 + 10 * sent[GATE];
}

seL4_MessageInfo_t seL4_Wait(seL4_CPtr endpoint, seL4_Word *badge)
#else
seL4_MessageInfo_t seL4_Recv(seL4_CPtr endpoint, seL4_Word *badge)
#endif
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

static struct camkes_thread first, second;
struct camkes_thread *const camkes_threads[] = {&first, &second};
static const struct camkes_thread *begun;

void _camkes_thread(unsigned index);

static void begins(struct camkes_thread *self)
{
    need(camkes_self() == self, "it does not know itself");
    begun = self;
}

#if CAMKES_MCS
static unsigned initialised; /* after so many messages that a thread is ready */

static void init(void)
{
    initialised = 1 + sent[READY];
}

/* A passive thread reports that it begins and that it has ended, and waits as the others do. The
 * control thread does not wait for it here. */
static void passive_threads(void)
{
    struct camkes_start start = {
        .gate = GATE, .ready = READY, .interfaces = 2, .lent = {.gate = 3}};
    const struct camkes_instance instance = {.name = "instance", .start = &start};
    static struct camkes_thread self = {.passive = true};
    passive = 1;
    camkes_set_self(&self);
    camkes_start_interface(&instance, init);
    need(initialised == 2, "it reports before it initialises its interface");
    need(sent[READY] == 2 && received[GATE] == 1 && start.waiting == 1, "a passive thread");
    self.passive = false;
    camkes_start_interface(&instance, init);
    need(sent[READY] == 4 && received[GATE] == 2, "the only other one is the last");
    camkes_start_interfaces(&instance);
    need(received[READY] == 2, "the control thread waits for the others");
    need(passive_started == 21, "and then lets passive ones start");
    camkes_start_open(&instance);
    need(sent[GATE] == 2 && passive_open == 21, "all are let through, and then passive ones");
    passive = 0;
    memset(sent, 0, sizeof sent);
    memset(received, 0, sizeof received);
}
#endif

int main(void)
{
#if CAMKES_MCS
    static struct camkes_thread active;
    passive_threads();
    camkes_set_self(&active);
#endif
    struct camkes_start start = {.gate = GATE, .ready = READY, .interfaces = 2};
    const struct camkes_instance instance = {.name = "instance", .start = &start};

    first.start = second.start = begins;
    _camkes_thread(1);
    need(begun == &second, "another thread begins");
#if CAMKES_MCS
    camkes_set_self(&active);
#endif
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
    need(sent[GATE] == 5 && recorded == 5, "all that wait are let through");
    camkes_start_wait(&instance);
    need(received[GATE] == 4 && sent[GATE] == 5, "a thread that comes later does not wait");
    printf("good\n");
    return 0;
}
