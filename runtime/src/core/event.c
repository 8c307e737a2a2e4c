/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Events: one side signals, the other waits, polls or is called back. */
#include <camkes/error.h>
#include <camkes/event.h>
#include <limits.h>

/* Only the thread that set the state to BUSY reads or writes the callback. */
enum { NO_CALLBACK, BUSY, CALLBACK };

static bool claim(struct camkes_event *event, unsigned state)
{
    return atomic_compare_exchange_strong(&event->registered, &state, BUSY);
}

/* Returns false if no callback is registered. A registration is used up by one event. */
static bool call_back(struct camkes_event *event)
{
    if (!claim(event, CALLBACK)) {
        return false;
    }
    void (*const callback)(void *) = event->callback;
    void *const argument = event->argument;
    atomic_store(&event->registered, NO_CALLBACK);
    callback(argument); /* calls callback: that of the component */
    return true;
}

static void deliver(struct camkes_event *event)
{
    if (call_back(event)) {
        return;
    }
    if (event->condition != NULL) {
        (void)camkes_condition_post(event->condition, INT_MAX);
    } else {
        (void)camkes_semaphore_post(&event->handoff, INT_MAX);
    }
}

/* An event whose pending occurrences the thread is delivering; `outer` is the enclosing one, if
 * callbacks nest. */
struct camkes_emptying {
    const struct camkes_event *event;
    const struct camkes_emptying *outer;
};

/*
 * Delivers pending events to callbacks for as long as these register again. Registering in a
 * callback does not start another loop, so that the stack does not grow with the number of events.
 */
static void empty_handoff(struct camkes_event *event)
{
    struct camkes_thread *self = camkes_self();
    /* at most 0 times: it is not a callback that registers one */
    for (const struct camkes_emptying *e = self->emptying; e != NULL; e = e->outer) {
        if (e->event == event) {
            return;
        }
    }
    const struct camkes_emptying emptying = {.event = event, .outer = self->emptying};
    self->emptying = &emptying;
    /* at most 1 time: the callback does not register again */
    while (atomic_load(&event->registered) == CALLBACK && camkes_event_poll(event)) {
        deliver(event);
    }
    self->emptying = emptying.outer;
}

static __attribute__((cold, noinline)) void camkes_event_too_many(const char *name,
                                                                  uintptr_t events)
{
    camkes_print("camkes: %s: %lu queued events cannot be: they are taken for one", name,
                 (unsigned long)events);
}

/* Returns the number of events. The count is in shared memory, so an emitter can write any value to
 * it. */
static uintptr_t take_events(const struct camkes_thread *self, const struct camkes_event *event)
{
    const uintptr_t events = event->queued != NULL ? atomic_exchange(event->queued, 0) : 1;
    if (events > CAMKES_EVENTS_QUEUED) {
        camkes_event_too_many(self->name, events);
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
        /* at most 1 + 65534 * counted times: CAMKES_EVENTS_QUEUED */
        for (uintptr_t i = 0; i < events; i++) {
            deliver(event);
        }
    }
}

void camkes_event_wait(struct camkes_event *event)
{
    if (event->condition != NULL) {
        (void)camkes_condition_wait(event->condition);
    } else {
        (void)camkes_semaphore_wait(&event->handoff);
    }
}

int camkes_event_wait_until(struct camkes_event *event, uint64_t time)
{
    return camkes_condition_wait_until(event->condition, time, INT_MAX);
}

int camkes_event_poll(struct camkes_event *event)
{
    return (event->condition != NULL ? camkes_condition_trywait(event->condition)
                                     : camkes_semaphore_trywait(&event->handoff)) == 0;
}

int camkes_event_register(struct camkes_event *event, void (*callback)(void *), void *argument)
{
    if (!claim(event, NO_CALLBACK)) {
        return -1;
    }
    event->callback = callback;
    event->argument = argument;
    atomic_store(&event->registered, CALLBACK);
    camkes_point();
    empty_handoff(event);
    return 0;
}

void camkes_event_emit_queued(_Atomic uintptr_t *queued, seL4_CPtr notification)
{
    uintptr_t before = atomic_load(queued);
    /* at most 1 time: no other thread changes the value meanwhile */
    do {
        camkes_point();
    } while (before < CAMKES_EVENTS_QUEUED &&
             !atomic_compare_exchange_weak(queued, &before, before + 1));
    seL4_Signal(notification);
}
