/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The consuming side of events that have an interface thread. */
#pragma once

#include <camkes/instance.h>
#include <camkes/semaphore.h>

/*
 * The interface thread waits on `notification`. It gives each event to the registered callback,
 * which is used up by that, or else to `handoff`, where IFACE_wait() and IFACE_poll() take it.
 */
struct camkes_event {
    struct camkes_interface interface;
    seL4_CPtr notification;
    _Atomic uintptr_t *queued; /* events that the emitters counted, NULL: one a signal */
    struct camkes_semaphore handoff;
    _Atomic unsigned registered; /* enum in event.c */
    void (*callback)(void *);
    void *argument;
};

/* So many events can wait to be taken; further ones are lost. */
#define CAMKES_EVENTS_QUEUED 65535

void camkes_event_wait(struct camkes_event *event);
int camkes_event_poll(struct camkes_event *event);
int camkes_event_register(struct camkes_event *event, void (*callback)(void *), void *argument);

/* What the interface thread does. */
void camkes_serve_event(struct camkes_thread *self);

/* The emitting side of a queued event. */
void camkes_event_emit_queued(_Atomic uintptr_t *queued, seL4_CPtr notification);
