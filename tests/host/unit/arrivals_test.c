/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: HOST-3 */
/* Which timers may fire at a point, and when a run begins in which they fire by choice. */
#include "objects/operations.h"
#include "scheduling/scheduling.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMERS = 3 };

static struct kernel state;
struct kernel *kernel = &state;
static struct object timers[TIMERS], notes[TIMERS];
static struct object *heap[TIMERS];
static struct thread waiters[TIMERS], running = {.priority = 20}, equals[2];
struct hooks hooks;
static unsigned offered, answer;
static const struct object *fired;
static struct ready ready;

unsigned choose(enum camkes_choice kind, unsigned options)
{
    (void)kind;
    offered = options;
    return answer < options ? answer : 0;
}

void timer_arrive(struct object *object)
{
    fired = object;
}

void ready_prepend(struct thread *thread)
{
    (void)thread;
}

bool ready_has_equal(const struct thread *thread)
{
    return thread == &running;
}

unsigned ready_count(unsigned priority)
{
    return priority == 20 ? 3 : 0;
}

struct thread *ready_take(unsigned priority, unsigned place)
{
    struct thread *thread = ready.queues[priority].head;
    while (place-- > 0) {
        thread = thread->next;
    }
    return thread;
}

/* Threads here have no capabilities. */
struct cap *cap_find(struct thread *thread, seL4_CPtr slot)
{
    (void)thread;
    (void)slot;
    return NULL;
}

static bool may_refuse;

/* The last case ends here. */
void give_up(int status, const char *format, ...)
{
    (void)format;
    printf("%s\n", may_refuse && status == 2 ? "good" : "refused");
    exit(!may_refuse);
}

static void need(bool good, const char *what)
{
    if (!good) {
        printf("%s\n", what);
        exit(1);
    }
}

/* Timers of priorities 10, 30 and 50, the heap in another order than the table. */
static void begin(uint64_t arrivals)
{
    memset(&state, 0, sizeof state);
    memset(&ready, 0, sizeof ready);
    state.ready = &ready;
    state.options.arrivals = arrivals;
    state.objects = timers;
    state.object_count = state.heap_size = TIMERS;
    state.heap = heap;
    state.now = 5;
    for (unsigned i = 0; i < TIMERS; i++) {
        waiters[i] = (struct thread){.priority = (uint8_t)(10 + 20 * i)};
        notes[i] = (struct object){.notification.queue.head = &waiters[i]};
        timers[i] = (struct object){.name = "timer",
                                    .number = i,
                                    .kind = OBJECT_TIMER,
                                    .timer = {.armed = true,
                                              .due = 100 * (i + 1),
                                              .period = 1000 / (i + 1),
                                              .notification = &notes[i]}};
        heap[TIMERS - 1 - i] = &timers[i];
    }
    fired = NULL;
}

static void the_beginning(void)
{
    begin(0);
    arrivals_initialise();
    need(state.now == 5, "a run in which timers fire at their times begins as usual");
    begin(1);
    arrivals_initialise();
    need(state.now == 300, "all timers are due once");
    begin(3);
    arrivals_initialise();
    need(state.now == 2100, "all timers are due three times");
    begin(3);
    timers[0].timer.armed = false;
    arrivals_initialise();
    need(state.now == 1200, "a timer that is not armed does not count");
}

static void points(void)
{
    begin(2);
    answer = 0;
    need(!arrivals_at_point(&running) && fired == NULL, "nothing is chosen");
    need(offered == 3, "the two timers of higher priorities may fire");
    for (answer = 1; answer < 3; answer++) {
        need(arrivals_at_point(&running) && fired == &timers[answer], "in the order of the table");
    }
    timers[1].timer.fired = 2;
    answer = 1;
    need(arrivals_at_point(&running) && fired == &timers[2] && offered == 2,
         "a timer fires as often as is allowed");
    timers[1].name = "i.condition!timer";
    need(arrivals_at_point(&running) && fired == &timers[1] && offered == 3,
         "but one of the runtime as often as it is set");
    timers[1].name = "timer";
    notes[2].notification.queue.head = NULL;
    fired = NULL;
    need(!arrivals_at_point(&running) && fired == NULL, "no thread waits for the other");
}

static void slices(void)
{
    begin(1);
    state.options.round_robin = true;
    state.current = state.shown = state.last = &running;
    ready.queues[20].head = &equals[0];
    equals[0].next = &running;
    running.next = &equals[1];
    offered = 0;
    need(arrivals_at_point(&running) && offered == 0 && !state.current && state.shown == &running &&
             state.action == ACTION_SLICE,
         "with round robin and equals no thread runs for a moment");
    struct thread *const next[] = {&running, NULL, NULL, &equals[0], &equals[1]};
    for (answer = 0; answer < 5; answer++) {
        fired = NULL;
        state.current = NULL;
        need(arrivals_end_slice() == (next[answer] != NULL) && offered == 5 &&
                 state.current == next[answer] && state.action == ACTION_RESUME,
             "the thread goes on, or a timer fires, or one of the equals goes on");
        need((fired != NULL) == (answer == 1 || answer == 2), "a timer fires if it is chosen");
    }
}

static void switches(void)
{
    begin(1);
    answer = 0;
    state.current = NULL;
    need(arrivals_at_switch() && offered == 3 && fired == &timers[0],
         "one fires if no thread runs");
    state.current = &running;
    answer = offered = 0;
    need(!arrivals_at_switch() && offered == 0, "a thread that has not come to a point goes on");
    running.at_point = true;
    need(!arrivals_at_switch() && offered == 3, "a thread that is about to run may do so");
    answer = 2;
    need(arrivals_at_switch() && fired == &timers[2], "or a timer fires first");
    running.at_point = false;
}

static void too_many(void)
{
    static struct object many[65];
    begin(1);
    for (unsigned i = 0; i < 65; i++) {
        many[i] = (struct object){.name = "timer", .kind = OBJECT_TIMER};
    }
    state.objects = many;
    state.object_count = 64;
    arrivals_initialise();
    may_refuse = true;
    state.object_count = 65;
    arrivals_initialise();
}

int main(void)
{
    the_beginning();
    points();
    slices();
    switches();
    too_many();
    printf("more timers than can be told apart are not refused\n");
    return 1;
}
