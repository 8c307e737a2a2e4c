/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: RT-12 */
/* Events: what an interface thread does with them, and what callbacks and waits get of them. */
#include "log.h"

#include <camkes/event.h>
#include <limits.h>
#include <setjmp.h>

enum { NOTIFICATION = 7, HANDOFF };

static seL4_IPCBuffer buffer;
static struct camkes_thread self = {.name = "thread"};
static struct camkes_event event, other;
static _Atomic uintptr_t queued;
static unsigned waits, signals, calls, depth, deepest;
static void (*meanwhile)(void);
static jmp_buf over;

seL4_IPCBuffer *seL4_GetIPCBuffer(void)
{
    return &buffer;
}

void camkes_host_point(void)
{
    void (*const act)(void) = meanwhile;
    meanwhile = NULL;
    if (act != NULL) {
        act();
    }
}

void seL4_Wait(seL4_CPtr notification, seL4_Word *badge)
{
    (void)badge;
    need(notification == NOTIFICATION, "another notification");
    if (waits-- == 0) {
        longjmp(over, 1);
    }
}

void seL4_Signal(seL4_CPtr notification)
{
    need(notification == NOTIFICATION, "another notification");
    signals++;
}

void camkes_start_interface(const struct camkes_instance *instance, void (*init)(void))
{
    (void)instance;
    need(init == NULL, "another interface");
    note("starts\n");
}

int camkes_condition_wait(struct camkes_condition *condition)
{
    note("wait for %s\n", condition->name);
    return 0;
}

int camkes_condition_wait_until(struct camkes_condition *condition, uint64_t time, int limit)
{
    need(limit == INT_MAX, "another limit");
    note("wait for %s until %lu\n", condition->name, (unsigned long)time);
    return -1;
}

int camkes_condition_trywait(struct camkes_condition *condition)
{
    note("look for %s\n", condition->name);
    return atomic_load(&condition->value) > 0 ? atomic_fetch_sub(&condition->value, 1) * 0 : -1;
}

int camkes_condition_post(struct camkes_condition *condition, int limit)
{
    need(limit == INT_MAX, "another limit");
    note("post %s\n", condition->name);
    return 0;
}

void camkes_print(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    note_line(format, args);
    va_end(args);
}

static void begin(int pending)
{
    const struct camkes_event fresh = {.notification = NOTIFICATION,
                                       .handoff = {.notification = HANDOFF, .value = pending}};
    event = other = fresh;
    self.interface = &event;
    self.emptying = NULL;
    camkes_set_self(&self);
    calls = deepest = signals = 0;
    queued = 0;
}

static void serve(unsigned times)
{
    waits = times;
    if (setjmp(over) == 0) {
        camkes_serve_event(&self);
    }
    need_done("starts\n");
}

/* -- callbacks -- */

static void count(void *argument)
{
    calls += *(unsigned *)argument;
}

static void again(void *argument)
{
    calls++;
    deepest = ++depth > deepest ? depth : deepest;
    (void)camkes_event_register(argument, again, argument);
    depth--;
}

/* Each registers a callback for the other event. */
static void in_turn(void *argument)
{
    struct camkes_event *const next = argument == &event ? &other : &event;
    calls++;
    deepest = ++depth > deepest ? depth : deepest;
    (void)camkes_event_register(next, in_turn, next);
    depth--;
}

static void callbacks(void)
{
    unsigned two = 2;
    begin(0);
    need(camkes_event_register(&event, count, &two) == 0, "the first callback");
    need(camkes_event_register(&event, again, &event) == -1, "only one can be registered");
    serve(3);
    need(calls == 2 && event.handoff.value == 2, "one event is for it, two wait");
    need(camkes_event_register(&event, again, &event) == 0, "those are for the next one");
    need(calls == 4 && deepest == 1, "one after the other, not within");
    need(event.handoff.value == 0 && self.emptying == NULL, "nothing is left");
    serve(2);
    need(calls == 6 && deepest == 1, "it registers again each time");
    begin(0);
    event.handoff.value = other.handoff.value = 3;
    need(camkes_event_register(&event, in_turn, &event) == 0, "two events");
    need(calls == 6 && deepest == 2, "each at most once within the other");
    need(event.handoff.value == 0 && other.handoff.value == 0, "all are delivered");
    need(self.emptying == NULL, "nothing is left");
}

/* -- queued events -- */

static void one_more(void)
{
    atomic_fetch_add(&queued, 1);
}

static void counts(void)
{
    begin(0);
    event.queued = &queued;
    queued = CAMKES_EVENTS_QUEUED;
    serve(1);
    need(event.handoff.value == CAMKES_EVENTS_QUEUED && queued == 0, "as many as can be queued");
    begin(0);
    event.queued = &queued;
    queued = CAMKES_EVENTS_QUEUED + 1;
    waits = 1;
    if (setjmp(over) == 0) {
        camkes_serve_event(&self);
    }
    need_done("starts\ncamkes: thread: 65536 queued events cannot be: they are taken for one\n");
    need(event.handoff.value == 1, "more than that");
    begin(0);
    event.queued = &queued;
    serve(1);
    need(event.handoff.value == 0, "a signal without events");

    queued = CAMKES_EVENTS_QUEUED - 1;
    camkes_event_emit_queued(&queued, NOTIFICATION);
    need(queued == CAMKES_EVENTS_QUEUED && signals == 1, "the last that can be queued");
    camkes_event_emit_queued(&queued, NOTIFICATION);
    need(queued == CAMKES_EVENTS_QUEUED && signals == 2, "one that is lost");
    queued = 3;
    meanwhile = one_more;
    camkes_event_emit_queued(&queued, NOTIFICATION);
    need(queued == 5 && signals == 3, "two at the same time");
}

static void helped(void)
{
    struct camkes_condition condition = {.name = "c", .value = 1};
    begin(1);
    camkes_event_wait(&event);
    need(event.handoff.value == 0, "a wait");
    need(!camkes_event_poll(&event), "no event");
    need_done("");
    event.condition = &condition;
    camkes_event_wait(&event);
    need_done("wait for c\n");
    need(camkes_event_wait_until(&event, 5000000000) == -1, "a wait until a time");
    need_done("wait for c until 5000000000\n");
    need(camkes_event_poll(&event) == 1, "an event");
    need(camkes_event_poll(&event) == 0, "no event");
    need_done("look for c\nlook for c\n");
    waits = 1;
    if (setjmp(over) == 0) {
        camkes_serve_event(&self);
    }
    need_done("starts\npost c\n");
}

int main(void)
{
    callbacks();
    counts();
    helped();
    printf("good\n");
    return 0;
}
