/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Passive threads on an MCS kernel. A passive thread has no scheduling context: it runs on that of
 * its caller. During start-up the control thread of its instance lends it one: to initialise its
 * interface, if that has a thread of its own, and to reach the point where it waits for callers.
 *
 * A thread stops where it is when its context is unbound. So the thread first waits at a gate
 * endpoint, which only the control thread calls: in one kernel call, the thread replies to that
 * call, which returns the donated context, and waits for its first caller.
 */
#include <camkes/instance.h>
#include <camkes/platform.h>
#include <camkes/serve.h>

#include "overrun.h"

#if defined(CONFIG_KERNEL_MCS)

#define NONE (~0u)

static seL4_MessageInfo_t empty(void)
{
    return seL4_MessageInfo_new(0, 0, 0, 0);
}

static bool is_passive(const struct camkes_thread *thread, const struct camkes_instance *instance)
{
    return thread->passive && thread->instance == instance;
}

/* The interfaces of CPIs with a protocol are initialised by the control thread. */
static bool initialises(const struct camkes_thread *thread, const struct camkes_instance *instance)
{
    return is_passive(thread, instance) && thread->cpi == NULL;
}

/* The index of the passive thread of an instance that comes home after that of the index `last`
 * (NONE: the first), NONE: there are no more. Threads execute at their own priorities on the way,
 * so those of higher ones come first: else they would wait for tasks that are less urgent. */
static unsigned next_home(const struct camkes_instance *instance, unsigned last)
{
    unsigned found = NONE;
    for (unsigned i = 0; i < camkes_thread_count; i++) {
        const uint8_t priority = camkes_threads[i]->priority;
        const bool comes = last == NONE || priority < camkes_threads[last]->priority ||
                           (priority == camkes_threads[last]->priority && i > last);
        if (is_passive(camkes_threads[i], instance) && comes &&
            (found == NONE || priority > camkes_threads[found]->priority)) {
            found = i;
        }
    }
    return found;
}

static void lend(const struct camkes_lent *lent, const struct camkes_thread *thread)
{
    camkes_must(seL4_SchedContext_Bind(lent->context, thread->tcb));
}

void camkes_platform_bring_home(const struct camkes_lent *lent, seL4_CPtr context)
{
    seL4_Wait(lent->done, NULL);
    camkes_must(seL4_SchedContext_Unbind(context));
    (void)seL4_Call(lent->gate, empty());
}

unsigned camkes_platform_passive(const struct camkes_instance *instance)
{
    unsigned count = 0;
    for (unsigned i = 0; i < camkes_thread_count; i++) {
        count += initialises(camkes_threads[i], instance);
    }
    return count;
}

void camkes_platform_start_passive(const struct camkes_instance *instance)
{
    for (unsigned i = next_home(instance, NONE); i != NONE; i = next_home(instance, i)) {
        if (initialises(camkes_threads[i], instance)) {
            lend(&instance->start->lent, camkes_threads[i]);
            /* the thread sends before and after it initialises its interface */
            (void)camkes_platform_listen(instance->start->ready, NULL);
            (void)camkes_platform_listen(instance->start->ready, NULL);
            camkes_must(seL4_SchedContext_Unbind(instance->start->lent.context));
        }
    }
}

void camkes_platform_open_passive(const struct camkes_instance *instance)
{
    for (unsigned i = next_home(instance, NONE); i != NONE; i = next_home(instance, i)) {
        if (camkes_threads[i]->cpi != NULL) {
            camkes_overrun_prepare(camkes_threads[i]); /* the manager may begin after a request */
        }
        lend(&instance->start->lent, camkes_threads[i]);
        camkes_platform_bring_home(&instance->start->lent, instance->start->lent.context);
    }
}

seL4_MessageInfo_t camkes_platform_receive_first(seL4_CPtr endpoint, seL4_Word *badge)
{
    const struct camkes_thread *self = camkes_self();
    if (!self->passive) {
        return camkes_platform_receive(endpoint, badge);
    }
    const struct camkes_lent *lent = self->home != NULL ? self->home : &self->instance->start->lent;
    (void)seL4_NBSendRecv(lent->done, empty(), lent->gate, NULL, self->reply);
    const seL4_MessageInfo_t info = camkes_platform_reply_receive(endpoint, empty(), badge);
    if (atomic_load(&self->arriving)) { /* a caller waited already */
        camkes_return_time(self, CAMKES_RETURN_NOTHING);
    }
    return info;
}

#endif
