/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes/error.h>
#include <camkes/event.h>
#include <limits.h>

/* The callback slot is written or read only by whoever made it BUSY. */
enum { NO_CALLBACK, BUSY, CALLBACK };

static bool claim(struct camkes_event *event, unsigned state)
{
    return atomic_compare_exchange_strong(&event->registered, &state, BUSY);
}

static void deliver(struct camkes_event *event)
{
    if (!claim(event, CALLBACK)) {
        (void)camkes_semaphore_post(&event->handoff, INT_MAX);
        return;
    }
    void (*const callback)(void *) = event->callback;
    void *const argument = event->argument;
    atomic_store(&event->registered, NO_CALLBACK);
    callback(argument);
}

/* How many events there are. Whoever may emit can write any number into the count that is shared.
 */
static uintptr_t take_events(const struct camkes_thread *self, const struct camkes_event *event)
{
    const uintptr_t events = event->queued != NULL ? atomic_exchange(event->queued, 0) : 1;
    if (events > CAMKES_EVENTS_QUEUED) {
        camkes_print("camkes: %s: %lu queued events cannot be: they are taken for one", self->name,
                     (unsigned long)events);
        return 1;
    }
    return events;
}

void camkes_serve_event(struct camkes_thread *self)
{
    struct camkes_event *event = self->interface;
    camkes_start_interface(self->instance, event->interface.init);
    for (;;) {
        seL4_Wait(event->notification, NULL);
        const uintptr_t events = take_events(self, event);
        for (uintptr_t i = 0; i < events; i++) {
            deliver(event);
        }
    }
}

void camkes_event_wait(struct camkes_event *event)
{
    (void)camkes_semaphore_wait(&event->handoff);
}

int camkes_event_poll(struct camkes_event *event)
{
    return camkes_semaphore_trywait(&event->handoff) == 0;
}

int camkes_event_register(struct camkes_event *event, void (*callback)(void *), void *argument)
{
    if (camkes_event_poll(event)) {
        callback(argument);
        return 0;
    }
    if (!claim(event, NO_CALLBACK)) {
        return -1;
    }
    event->callback = callback;
    event->argument = argument;
    atomic_store(&event->registered, CALLBACK);
    camkes_point();
    /* An event may have been handed off since the poll: then that is the one for the callback. */
    if (camkes_event_poll(event)) {
        if (claim(event, CALLBACK)) {
            atomic_store(&event->registered, NO_CALLBACK);
            callback(argument);
        } else {
            (void)camkes_semaphore_post(&event->handoff, INT_MAX);
        }
    }
    return 0;
}

void camkes_event_emit_queued(_Atomic uintptr_t *queued, seL4_CPtr notification)
{
    uintptr_t before = atomic_load(queued);
    do {
        camkes_point();
    } while (before < CAMKES_EVENTS_QUEUED &&
             !atomic_compare_exchange_weak(queued, &before, before + 1));
    camkes_point();
    seL4_Signal(notification);
}
