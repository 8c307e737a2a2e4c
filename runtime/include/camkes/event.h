/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The consumer of an event with an interface thread. */
#pragma once

#include <camkes/condition.h>
#include <camkes/instance.h>
#include <camkes/semaphore.h>

/*
 * The interface thread waits on `notification`. It passes each event to the registered callback,
 * which ends the registration, or else posts `handoff`, or `condition` of an event with helpers, on
 * which IFACE_wait() and IFACE_poll() wait.
 */
struct camkes_event {
    struct camkes_interface interface;
    seL4_CPtr notification;
    _Atomic uintptr_t *queued; /* number of events not yet taken, NULL: one per signal */
    struct camkes_semaphore handoff;
    struct camkes_condition *condition; /* NULL: without helpers */
    _Atomic unsigned registered;        /* state; enum in event.c */
    void (*callback)(void *);
    void *argument;
};

/* The maximum number of events that can be queued; further ones are lost. */
#define CAMKES_EVENTS_QUEUED 65535

void camkes_event_wait(struct camkes_event *event);
/* With helpers only. As camkes_condition_wait_until(). */
int camkes_event_wait_until(struct camkes_event *event, uint64_t time);
int camkes_event_poll(struct camkes_event *event);
int camkes_event_register(struct camkes_event *event, void (*callback)(void *), void *argument);

/* Entry point of the interface thread. */
void camkes_serve_event(struct camkes_thread *self);

/* Emits a queued event. */
void camkes_event_emit_queued(_Atomic uintptr_t *queued, seL4_CPtr notification);
