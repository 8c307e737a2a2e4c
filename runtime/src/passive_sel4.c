/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Passive threads on an MCS kernel. A passive thread has no scheduling context: it runs on that of
 * its caller. During start-up the control thread of its instance lends it one twice: to initialise
 * its interface, and to reach the point where it waits for callers.
 *
 * A thread stops where it is when its context is unbound. So the thread first waits at a gate
 * endpoint of its own, which only the control thread calls: in one kernel call, the thread replies
 * to that call, which returns the donated context, and waits for its first caller.
 */
#include "image_sel4.h"

#include <autoconf.h>
#include <camkes/instance.h>
#include <camkes/platform.h>

#if defined(CONFIG_KERNEL_MCS)

#include <camkes/tls.h>
#include <string.h>

static const struct camkes_sel4_thread *running(void)
{
    return &camkes_sel4_image.threads[camkes_get_tls()->thread_index - 1];
}

seL4_CPtr camkes_platform_reply_object(void)
{
    return running()->reply;
}

bool camkes_platform_is_passive(void)
{
    return running()->context != 0;
}

static seL4_MessageInfo_t empty(void)
{
    return seL4_MessageInfo_new(0, 0, 0, 0);
}

/* The next passive thread of an instance after `thread`, or the first if `thread` is NULL. */
static const struct camkes_sel4_thread *next_passive(const struct camkes_instance *instance,
                                                     const struct camkes_sel4_thread *thread)
{
    const struct camkes_sel4_thread *end =
        camkes_sel4_image.threads + camkes_sel4_image.thread_count;
    thread = thread == NULL ? camkes_sel4_image.threads : thread + 1;
    while (thread < end &&
           (thread->context == 0 || strcmp(thread->instance, instance->name) != 0)) {
        thread++;
    }
    return thread < end ? thread : NULL;
}

static void lend(const struct camkes_sel4_thread *thread)
{
    if (seL4_SchedContext_Bind(thread->context, thread->tcb) != seL4_NoError) {
        camkes_platform_fault();
    }
}

static void take_back(const struct camkes_sel4_thread *thread)
{
    if (seL4_SchedContext_Unbind(thread->context) != seL4_NoError) {
        camkes_platform_fault();
    }
}

unsigned camkes_platform_passive(const struct camkes_instance *instance)
{
    unsigned count = 0;
    for (const struct camkes_sel4_thread *thread = next_passive(instance, NULL); thread != NULL;
         thread = next_passive(instance, thread)) {
        count++;
    }
    return count;
}

void camkes_platform_start_passive(const struct camkes_instance *instance)
{
    for (const struct camkes_sel4_thread *thread = next_passive(instance, NULL); thread != NULL;
         thread = next_passive(instance, thread)) {
        lend(thread);
        /* the thread sends before and after it initialises its interface */
        (void)camkes_platform_listen(instance->start->ready, NULL);
        (void)camkes_platform_listen(instance->start->ready, NULL);
        take_back(thread);
    }
}

void camkes_platform_open_passive(const struct camkes_instance *instance)
{
    for (const struct camkes_sel4_thread *thread = next_passive(instance, NULL); thread != NULL;
         thread = next_passive(instance, thread)) {
        lend(thread);
        seL4_Wait(thread->done, NULL);
        take_back(thread);
        (void)seL4_Call(thread->gate, empty());
    }
}

seL4_MessageInfo_t camkes_platform_receive_first(seL4_CPtr endpoint, seL4_Word *badge)
{
    const struct camkes_sel4_thread *self = running();
    if (self->context == 0) {
        return camkes_platform_receive(endpoint, badge);
    }
    (void)seL4_NBSendRecv(self->done, empty(), self->gate, NULL, self->reply);
    return camkes_platform_reply_receive(endpoint, empty(), badge);
}

#endif
