/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: HOST-12 */
/* Which waits at the end of a search violate L, and which only end with another arrival. */
#include "search/search.h"
#include "violation.h"

#include <stdlib.h>
#include <string.h>

enum { SOURCE, SERVER, LISTENER, THREADS };
enum { RELEASE, REQUESTS, EVENT, ANSWER, TIMER, OBJECTS };

static struct object objects[OBJECTS];
static struct space spaces[THREADS];
static struct cap slots[THREADS][1];
static struct thread threads[THREADS];
static struct kernel state;
struct kernel *kernel = &state;
static struct oracle_thread known[THREADS] = {
    [SOURCE] = {.role = ORACLE_CONTROL, .cpi = NONE, .task = 0},
    [SERVER] = {.role = ORACLE_INTERFACE, .cpi = NONE, .task = NONE},
    [LISTENER] = {.role = ORACLE_CONTROL, .cpi = NONE, .task = 1},
};
static struct oracle_task tasks[] = {{.name = "source", .id = 0, .deadline = 1000},
                                     {.name = "listener", .id = 1}};
static struct oracle_cpi cpis[2];
struct oracle_system oracle_system = {.search = true,
                                      .threads = known,
                                      .thread_count = THREADS,
                                      .cpis = cpis,
                                      .tasks = tasks,
                                      .task_count = 2};
static struct oracle_memory memories[THREADS];
static struct oracle memory = {.threads = memories};
struct oracle *oracle = &memory;

const char *oracle_thread_name(unsigned number)
{
    return number == LISTENER ? "listener" : "another thread";
}

const char *oracle_context_name(unsigned context)
{
    (void)context;
    return "a context";
}

const char *oracle_cpi_name(unsigned cpi)
{
    (void)cpi;
    return "a CPI";
}

const char *oracle_lock_name(unsigned cpi)
{
    (void)cpi;
    return "a lock";
}

static void wait_for(unsigned thread, enum thread_state how, unsigned object)
{
    threads[thread] = (struct thread){
        .number = thread, .space = &spaces[thread], .state = how, .waits_for = &objects[object]};
}

static void may_send(unsigned thread, unsigned object, uint8_t rights)
{
    slots[thread][0] =
        (struct cap){.kind = objects[object].kind, .rights = rights, .object = &objects[object]};
}

/* The source, between two jobs, emits the event that the listener waits for in its only job. */
static void begin(void)
{
    static const enum object_kind kinds[OBJECTS] = {
        [RELEASE] = OBJECT_NOTIFICATION, [REQUESTS] = OBJECT_ENDPOINT,
        [EVENT] = OBJECT_NOTIFICATION,   [ANSWER] = OBJECT_NOTIFICATION,
        [TIMER] = OBJECT_TIMER,
    };
    for (unsigned i = 0; i < OBJECTS; i++) {
        objects[i] = (struct object){.number = i, .kind = kinds[i]};
    }
    objects[TIMER].timer.notification = &objects[RELEASE];
    state = (struct kernel){.objects = objects,
                            .object_count = OBJECTS,
                            .threads = threads,
                            .thread_count = THREADS,
                            .options = {.arrivals = 1}};
    for (unsigned i = 0; i < THREADS; i++) {
        spaces[i] = (struct space){.slots = slots[i], .slot_count = 1};
        memories[i] = (struct oracle_memory){.call_cpi = NONE,
                                             .waits_for = NONE,
                                             .receiver = NONE,
                                             .origin = NONE,
                                             .in_job = i == LISTENER};
    }
    wait_for(SOURCE, THREAD_BLOCKED_NOTIFICATION, RELEASE);
    wait_for(SERVER, THREAD_BLOCKED_RECV, REQUESTS);
    wait_for(LISTENER, THREAD_BLOCKED_NOTIFICATION, EVENT);
    may_send(SOURCE, EVENT, RIGHT_WRITE);
    may_send(SERVER, ANSWER, RIGHT_WRITE);
    may_send(LISTENER, EVENT, RIGHT_WRITE);
    tasks[LISTENER - 1].deadline = 0;
}

static void expect(const char *text, const char *what)
{
    said[0] = 0;
    oracle_check_liveness();
    if (strcmp(said, text) != 0) {
        printf("%s: \"%s\" and not \"%s\"\n", what, said, text);
        exit(1);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        if (memories[i].goes_on) {
            printf("%s: something is left in the state\n", what);
            exit(1);
        }
    }
}

int main(void)
{
    static const char never[] =
        "L: listener waits for ever in a job: no thread is left that could wake it";
    oracle_find_going_on = wakes_find;
    begin();
    expect("", "an event that the next job of another task emits");
    may_send(SOURCE, EVENT, RIGHT_READ);
    expect(never, "an event that the other task can only receive");
    may_send(SOURCE, EVENT, RIGHT_WRITE);
    objects[TIMER].timer.notification = &objects[ANSWER];
    expect(never, "a task that waits for something else than its next release");
    begin();
    state.options.arrivals = 0;
    expect(never, "all arrivals have been");
    begin();
    tasks[LISTENER - 1].deadline = 5;
    expect("L: listener waits in a job for what only another arrival can bring",
           "a job with a deadline");

    begin();
    wait_for(LISTENER, THREAD_BLOCKED_NOTIFICATION, ANSWER);
    expect(never, "a server that nobody calls");
    may_send(SOURCE, REQUESTS, RIGHT_WRITE);
    expect("", "a server that the next job of another task can call");

    wait_for(LISTENER, THREAD_BLOCKED_REPLY, REQUESTS);
    memories[LISTENER].receiver = SERVER;
    expect(never, "a reply of that server");
    memories[LISTENER].waits_for = 0;
    expect("", "a condition that this server manages");
    memories[LISTENER].receiver = LISTENER;
    expect(never, "a condition whose manager does not go on");
    memories[LISTENER].call_cpi = 0;
    expect("L: listener waits for a reply of a CPI for ever", "a request");

    memories[LISTENER].receiver = SERVER;
    memories[LISTENER].waits_for = NONE;
    wait_for(SERVER, THREAD_BLOCKED_NOTIFICATION, EVENT);
    may_send(SOURCE, EVENT, RIGHT_WRITE);
    expect("L: listener waits for a reply of a CPI for ever", "a thread that is no worker");
    known[SERVER].role = ORACLE_WORKER;
    expect("", "a worker that waits in its handler for an event of the other task");
    memories[SERVER].call_cpi = 1;
    memories[SERVER].origin = 0;
    expect("L: another thread waits for a reply of a CPI for ever",
           "a request of a task with a deadline");
    memories[SOURCE].gone = true;
    expect("", "a fault");
    printf("good\n");
    return 0;
}
