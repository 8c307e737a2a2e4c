/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Start-up of threads. */
#include <camkes/instance.h>

#define CAMKES_GATE_OPEN (~0u)

/* The kernel's loader starts thread `index` of this address space here. */
void _camkes_thread(unsigned index);

void _camkes_thread(unsigned index)
{
    struct camkes_thread *self = camkes_threads[index];
    camkes_set_self(self);
    self->start(self);
}

/* Waits for a message, which has no words. */
static void empty_receive(seL4_CPtr endpoint)
{
    (void)camkes_platform_listen(endpoint, NULL);
}

static void empty_send(seL4_CPtr endpoint)
{
    seL4_Send(endpoint, seL4_MessageInfo_new(0, 0, 0, 0));
}

void camkes_start_interfaces(const struct camkes_instance *instance)
{
    const struct camkes_start *start = instance->start;
    /* Each thread sends once before it initialises its interface; the last one to finish sends
     * again. */
    const unsigned threads = start->interfaces - camkes_platform_passive(instance);
    for (unsigned i = 0; i < threads + (threads > 0); i++) {
        empty_receive(start->ready);
    }
    camkes_platform_start_passive(instance);
}

void camkes_start_open(const struct camkes_instance *instance)
{
    struct camkes_start *start = instance->start;
    /* Threads that announced that they wait get a message; later ones see that the gate is open. */
    unsigned waiting = atomic_exchange(&start->waiting, CAMKES_GATE_OPEN);
    CAMKES_TRACE(STARTED, waiting);
    for (; waiting > 0; waiting--) {
        empty_send(start->gate);
    }
    camkes_platform_open_passive(instance);
}

/* Announces that the running thread waits at the gate. Returns false if the gate is already open.
 */
static bool announce(struct camkes_start *start)
{
    unsigned waiting = atomic_load(&start->waiting);
    do {
        if (waiting == CAMKES_GATE_OPEN) {
            return false;
        }
        camkes_point();
    } while (!atomic_compare_exchange_weak(&start->waiting, &waiting, waiting + 1));
    camkes_point();
    return true;
}

void camkes_start_wait(const struct camkes_instance *instance)
{
    if (announce(instance->start)) {
        empty_receive(instance->start->gate);
    }
}

void camkes_start_interface(const struct camkes_instance *instance, void (*init)(void))
{
    struct camkes_start *start = instance->start;
    empty_send(start->ready);
    if (init) {
        init();
    }
    if (camkes_platform_is_passive()) {
        empty_send(start->ready);
        camkes_start_wait(instance);
        return;
    }
    /* Only the last thread to finish wakes the control thread, so all of them are waiting when the
     * gate opens, and they pass in the order of their arrival. */
    (void)announce(start);
    const unsigned threads = start->interfaces - camkes_platform_passive(instance);
    if (atomic_fetch_add(&start->initialised, 1) + 1 == threads) {
        empty_send(start->ready);
    }
    empty_receive(start->gate);
}
