/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: HOST-12 */
/* Each property is violated by records that break it, and by no others. */
#include "isolation/memory.h"
#include "oracle/oracle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOCK, INNER, TOP, POOL, CPIS };
enum { LOW, MID, HIGH, CONTEXTS };
enum { TASK_LOW, TASK_HIGH, OF_LOW, OF_HIGH, MANAGER, FIRST, SECOND, OF_POOL, INNER_LOW, THREADS };

struct oracle_system oracle_system;

static struct oracle_thread known[THREADS];
static struct oracle_cpi cpis[CPIS] = {
    [LOCK] = {.name = "lock",
              .lock_name = "lock",
              .locks = true,
              .ceiling = 30,
              .contended = true,
              .lock = LOCK},
    [INNER] = {.name = "inner",
               .lock_name = "inner",
               .locks = true,
               .ceiling = 30,
               .contended = true,
               .lock = INNER},
    [TOP] = {.name = "top", .lock_name = "top", .own_priority = true, .ceiling = 40, .lock = TOP},
    [POOL] = {.name = "pool", .lock_name = "pool", .ceiling = 35, .pooled = true, .lock = POOL},
};
static struct oracle_context contexts[CONTEXTS] = {
    {"low", 10, false, TASK_LOW}, {"mid", 20, false, NONE}, {"high", 30, false, TASK_HIGH}};
static struct oracle_task tasks[] = {
    {.name = "low",
     .id = 0,
     .context = LOW,
     .timer = NONE,
     .priority = 10,
     .period = 1000,
     .deadline = 1000},
    {.name = "high", .id = 1, .context = HIGH, .timer = NONE, .priority = 30, .period = 1000}};

static uint64_t now;
static _Alignas(16) char block[8192];
static size_t taken;
static char violated[64];
static char said[256]; /* of the last violation */

void *memory_take(size_t size)
{
    void *start = block + taken;
    taken += (size + 15) / 16 * 16;
    memset(start, 0, size);
    return start;
}

static void violation(char property, const char *text)
{
    snprintf(said, sizeof said, "%s", text);
    if (strchr(violated, property) == NULL) {
        strncat(violated, &property, 1);
    }
}

static void add(unsigned number, enum oracle_role role, uint16_t cpi, uint16_t context,
                uint16_t task, uint8_t priority)
{
    known[number] = (struct oracle_thread){"thread", role, priority, cpi, context, task, 0};
}

/* A run in which no thread has run yet. */
static void begin(void)
{
    taken = 0;
    violated[0] = 0;
    now = 0;
    oracle_system = (struct oracle_system){.timed = true,
                                           .search = true,
                                           .threads = known,
                                           .thread_count = THREADS,
                                           .cpis = cpis,
                                           .contexts = contexts,
                                           .tasks = tasks,
                                           .cpi_count = CPIS,
                                           .context_count = CONTEXTS,
                                           .task_count = 2};
    add(TASK_LOW, ORACLE_CONTROL, NONE, LOW, 0, 10);
    add(TASK_HIGH, ORACLE_CONTROL, NONE, HIGH, 1, 30);
    add(OF_LOW, ORACLE_WORKER, LOCK, LOW, NONE, 10);
    add(OF_HIGH, ORACLE_WORKER, LOCK, HIGH, NONE, 30);
    add(MANAGER, ORACLE_MANAGER, LOCK, NONE, NONE, 30);
    add(FIRST, ORACLE_WORKER, TOP, NONE, NONE, 40);
    add(SECOND, ORACLE_WORKER, TOP, NONE, NONE, 40);
    add(OF_POOL, ORACLE_WORKER, POOL, NONE, NONE, 35);
    add(INNER_LOW, ORACLE_WORKER, INNER, LOW, NONE, 10);
    oracle_initialise();
    oracle_report = violation;
}

static void record(uint16_t kind, unsigned thread, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    oracle_record(now, kind, thread, NONE, (const uint64_t[ORACLE_ARGUMENTS]){a, b, c, d});
}

static void expect(const char *properties, const char *what)
{
    if (strcmp(violated, properties) != 0) {
        printf("%s: \"%s\" and not \"%s\"\n", what, violated, properties);
        exit(1);
    }
    violated[0] = 0;
}

static void request(unsigned thread, uint64_t cpi, uint64_t context, uint64_t task)
{
    record(CAMKES_TRACE_REQUEST_BEGIN, thread, cpi, context, 10, task);
}

static void lock(uint16_t kind, uint64_t cpi, uint64_t context)
{
    record(kind, MANAGER, cpi, context, 0, 0);
}

/* All threads but one wait for something. */
static void only(unsigned running)
{
    for (unsigned i = 0; i < THREADS; i++) {
        if (i != running) {
            record(CAMKES_TRACE_BLOCK, i, CAMKES_BLOCK_NOTIFICATION, 0, 0, 0);
        }
    }
}

static void of_requests(void)
{
    begin();
    request(OF_LOW, LOCK, LOW, 0);
    expect("", "a request of the plan");
    request(OF_LOW, CPIS, LOW, 0);
    expect("S", "a request at an unknown CPI");
    request(OF_LOW, LOCK, CONTEXTS, 0);
    expect("S", "a request of an unknown context");
    request(OF_LOW, LOCK, HIGH, 0);
    expect("S", "a request of the context of another worker");

    begin();
    request(FIRST, TOP, LOW, 0);
    request(FIRST, TOP, LOW, 0);
    expect("", "two requests of one thread at a fixed CPI");
    request(SECOND, TOP, HIGH, 1);
    expect("M", "a second request at a fixed CPI");
    begin();
    request(SECOND, TOP, LOW, 0);
    request(FIRST, TOP, HIGH, 1);
    expect("M", "the same in the other order");
    record(CAMKES_TRACE_REQUEST_END, SECOND, TOP, 0, 0, 0);
    request(SECOND, TOP, LOW, 0);
    expect("M", "while the other is in one");
    record(CAMKES_TRACE_REQUEST_END, FIRST, TOP, 0, 0, 0);
    record(CAMKES_TRACE_REQUEST_END, SECOND, TOP, 0, 0, 0);
    request(SECOND, TOP, LOW, 0);
    expect("", "one after the other");
}

static void of_tasks(void)
{
    begin();
    oracle_record(now, CAMKES_TRACE_TRANSFER, TASK_HIGH, OF_HIGH,
                  (const uint64_t[ORACLE_ARGUMENTS]){0});
    request(OF_HIGH, LOCK, HIGH, 1);
    expect("", "a request as one of its task");
    request(OF_HIGH, LOCK, HIGH, 0);
    expect("S", "a request as one of another task");
    oracle_record(now, CAMKES_TRACE_TRANSFER, OF_HIGH, FIRST,
                  (const uint64_t[ORACLE_ARGUMENTS]){0});
    request(FIRST, TOP, HIGH, 0);
    expect("S", "a nested request as one of another task");
    request(FIRST, TOP, HIGH, 1);
    expect("", "a nested request as one of its task");
}

static void of_locks(void)
{
    begin();
    lock(CAMKES_TRACE_LOCK_TAKE, LOCK, CONTEXTS);
    expect("M", "a lock for an unknown context");
    lock(CAMKES_TRACE_LOCK_TAKE, CPIS, LOW);
    expect("M", "an unknown lock");
    lock(CAMKES_TRACE_LOCK_FREE, LOCK, LOW);
    expect("M", "a lock that is free is freed");
    lock(CAMKES_TRACE_LOCK_TAKE, LOCK, LOW);
    expect("", "a free lock is taken");
    lock(CAMKES_TRACE_LOCK_FREE, LOCK, HIGH);
    expect("M", "a lock is freed by another context");
    lock(CAMKES_TRACE_LOCK_TAKE, LOCK, HIGH);
    expect("M", "a lock is taken twice");
    lock(CAMKES_TRACE_LOCK_FREE, LOCK, HIGH);
    lock(CAMKES_TRACE_LOCK_FREE, LOCK, LOW);
    expect("", "both free it");

    begin();
    lock(CAMKES_TRACE_LOCK_TAKE, LOCK, LOW);
    lock(CAMKES_TRACE_LOCK_WAIT, LOCK, MID);
    lock(CAMKES_TRACE_LOCK_WAIT, LOCK, HIGH);
    lock(CAMKES_TRACE_LOCK_FREE, LOCK, LOW);
    lock(CAMKES_TRACE_LOCK_GRANT, LOCK, MID);
    expect("H", "the lock goes past a context of higher priority");
    lock(CAMKES_TRACE_LOCK_FREE, LOCK, MID);
    lock(CAMKES_TRACE_LOCK_TAKE, LOCK, LOW);
    expect("H", "the lock is taken past one that waits");
    lock(CAMKES_TRACE_LOCK_FREE, LOCK, LOW);
    lock(CAMKES_TRACE_LOCK_GRANT, LOCK, HIGH);
    expect("", "the lock goes to the one that waits");
    lock(CAMKES_TRACE_LOCK_FREE, LOCK, HIGH);
    lock(CAMKES_TRACE_LOCK_GRANT, LOCK, HIGH);
    expect("H", "the lock goes to one that does not wait");
    lock(CAMKES_TRACE_LOCK_TAKE, LOCK, LOW);
    expect("M", "which has it then");
}

/* The base priorities of two contexts are equal. */
static void of_equals(void)
{
    contexts[MID].base = 30;
    begin();
    lock(CAMKES_TRACE_LOCK_TAKE, LOCK, LOW);
    lock(CAMKES_TRACE_LOCK_WAIT, LOCK, MID);
    lock(CAMKES_TRACE_LOCK_WAIT, LOCK, HIGH);
    lock(CAMKES_TRACE_LOCK_FREE, LOCK, LOW);
    lock(CAMKES_TRACE_LOCK_GRANT, LOCK, HIGH);
    expect("H", "the lock goes past an equal that waits longer");
    begin();
    lock(CAMKES_TRACE_LOCK_TAKE, LOCK, LOW);
    lock(CAMKES_TRACE_LOCK_WAIT, LOCK, MID);
    lock(CAMKES_TRACE_LOCK_WAIT, LOCK, HIGH);
    lock(CAMKES_TRACE_LOCK_FREE, LOCK, LOW);
    lock(CAMKES_TRACE_LOCK_GRANT, LOCK, MID);
    lock(CAMKES_TRACE_LOCK_FREE, LOCK, MID);
    lock(CAMKES_TRACE_LOCK_GRANT, LOCK, HIGH);
    expect("", "equals in the order in which they came");
    contexts[MID].base = 20;
}

static void of_deadlocks(void)
{
    begin();
    lock(CAMKES_TRACE_LOCK_TAKE, LOCK, LOW);
    lock(CAMKES_TRACE_LOCK_TAKE, INNER, HIGH);
    lock(CAMKES_TRACE_LOCK_WAIT, INNER, LOW);
    expect("", "a chain");
    lock(CAMKES_TRACE_LOCK_WAIT, LOCK, HIGH);
    expect("L", "a cycle");
}

static void need_effective(unsigned context, unsigned priority, const char *what)
{
    if (oracle_effective(context, false) != priority) {
        printf("%s: %u and not %u\n", what, oracle_effective(context, false), priority);
        exit(1);
    }
}

static void of_priorities(void)
{
    begin();
    need_effective(LOW, 10, "the priority of a context that no other waits for");
    lock(CAMKES_TRACE_LOCK_TAKE, LOCK, LOW);
    lock(CAMKES_TRACE_LOCK_WAIT, LOCK, MID);
    lock(CAMKES_TRACE_LOCK_TAKE, INNER, MID);
    need_effective(LOW, 20, "an inherited priority");
    lock(CAMKES_TRACE_LOCK_WAIT, INNER, HIGH);
    need_effective(LOW, 30, "a priority inherited through two locks");
    need_effective(MID, 30, "and through one");

    begin();
    record(CAMKES_TRACE_PRIORITY, OF_LOW, 10, 30, 0, 0);
    expect("", "a worker at the ceiling");
    record(CAMKES_TRACE_PRIORITY, OF_LOW, 30, 31, 0, 0);
    expect("S", "a worker above the ceiling");
    record(CAMKES_TRACE_PRIORITY, OF_LOW, 31, 10, 0, 0);

    only(TASK_LOW);
    record(CAMKES_TRACE_SWITCH, TASK_LOW, 0, 0, 0, 0);
    expect("", "the only thread that can run");
    record(CAMKES_TRACE_READY, TASK_HIGH, 0, 0, 0, 0);
    record(CAMKES_TRACE_WORK, TASK_LOW, 0, 0, 0, 0);
    expect("P", "work while a thread of higher priority could run");
    record(CAMKES_TRACE_SWITCH, TASK_HIGH, 0, 0, 0, 0);
    record(CAMKES_TRACE_WORK, TASK_HIGH, 0, 0, 0, 0);
    expect("", "work of the thread of the highest priority");
}

static void of_workers(void)
{
    begin();
    only(OF_LOW);
    record(CAMKES_TRACE_SWITCH, OF_LOW, 0, 0, 0, 0);
    request(OF_LOW, LOCK, LOW, 0);
    record(CAMKES_TRACE_WORK, OF_LOW, 0, 0, 0, 0);
    expect("M", "work in a CPI without its lock");
    lock(CAMKES_TRACE_LOCK_TAKE, LOCK, LOW);
    record(CAMKES_TRACE_WORK, OF_LOW, 0, 0, 0, 0);
    expect("", "work in a CPI with its lock");
    lock(CAMKES_TRACE_LOCK_WAIT, LOCK, HIGH);
    record(CAMKES_TRACE_WORK, OF_LOW, 0, 0, 0, 0);
    expect("P", "a priority that is not inherited");
    record(CAMKES_TRACE_PRIORITY, OF_LOW, 10, 30, 0, 0);
    record(CAMKES_TRACE_WORK, OF_LOW, 0, 0, 0, 0);
    expect("", "a priority that is inherited");
    lock(CAMKES_TRACE_LOCK_FREE, LOCK, LOW);
    record(CAMKES_TRACE_REQUEST_END, OF_LOW, LOCK, 0, 0, 0);
    record(CAMKES_TRACE_PRIORITY, OF_LOW, 30, 10, 0, 0);
    record(CAMKES_TRACE_WORK, OF_LOW, 0, 0, 0, 0);
    expect("H", "a free lock that a context waits for");
}

static void at_end(uint64_t reason)
{
    oracle_record(now, CAMKES_TRACE_END, NONE, NONE,
                  (const uint64_t[ORACLE_ARGUMENTS]){reason, 0, 0, 0});
}

static void need_priority(unsigned thread, int priority, const char *what)
{
    if (oracle_expected(thread) != priority) {
        printf("%s: %d and not %d\n", what, oracle_expected(thread), priority);
        exit(1);
    }
}

static void of_expected_priorities(void)
{
    begin();
    oracle->threads[TASK_LOW].priority = 99; /* a task has its own, whatever the kernel has */
    oracle->threads[FIRST].priority = oracle->threads[MANAGER].priority = 99;
    need_priority(TASK_LOW, 10, "a task");
    need_priority(TASK_HIGH, 30, "another task");
    need_priority(MANAGER, 30, "a manager");
    need_priority(FIRST, 40, "a worker of a fixed CPI");
    need_priority(OF_LOW, 10, "a worker of a context");
    need_priority(OF_POOL, 35, "a worker of a pool that waits");
    request(OF_POOL, POOL, MID, 0);
    need_priority(OF_POOL, 20, "a worker of a pool that serves");
    record(CAMKES_TRACE_REQUEST_END, OF_POOL, POOL, 0, 0, 0);
    need_priority(OF_POOL, 20, "a worker of a pool that has served");
    record(CAMKES_TRACE_PRIORITY, OF_POOL, 20, 25, 0, 0);
    need_priority(OF_POOL, 20, "one that does not have the ceiling yet");
    record(CAMKES_TRACE_PRIORITY, OF_POOL, 25, 35, 0, 0);
    need_priority(OF_POOL, 35, "one that has it");
}

/* What a manager that is at work has not made known yet may count, or not. */
static void of_managers(void)
{
    for (unsigned busy = 0; busy < 3; busy++) {
        begin();
        lock(CAMKES_TRACE_LOCK_TAKE, INNER, LOW);
        lock(CAMKES_TRACE_LOCK_TAKE, LOCK, MID);
        lock(CAMKES_TRACE_LOCK_WAIT, LOCK, HIGH); /* raises MID */
        lock(CAMKES_TRACE_LOCK_WAIT, INNER, MID);
        oracle->bases[LOW] = 25;
        lock(CAMKES_TRACE_LOCK_WAIT, INNER, LOW);
        violated[0] = 0;
        lock(CAMKES_TRACE_LOCK_FREE, INNER, LOW);
        if (busy > 0) {
            record(CAMKES_TRACE_BLOCK, MANAGER,
                   busy == 1 ? CAMKES_BLOCK_RECV : CAMKES_BLOCK_NOTIFICATION, 0, 0, 0);
        }
        lock(CAMKES_TRACE_LOCK_GRANT, INNER, LOW);
        expect(busy > 0 ? "H" : "", "a grant past a raised context");
    }
}

/* LOW can end waits for one condition, MID for another. */
static void of_helpers(void)
{
    static struct oracle_helper helpers[] = {{5, LOW}, {6, MID}};
    contexts[LOW].helps = contexts[MID].helps = true;
    begin();
    oracle_system.helpers = helpers;
    oracle_system.helper_count = 2;
    need_effective(LOW, 10, "nobody waits");
    oracle_record(now, CAMKES_TRACE_COND_WAIT, MANAGER, TASK_HIGH,
                  (const uint64_t[ORACLE_ARGUMENTS]){5, HIGH, 30, 0});
    need_effective(LOW, 30, "a helper");
    need_effective(MID, 20, "a helper of others");
    lock(CAMKES_TRACE_LOCK_TAKE, LOCK, MID);
    lock(CAMKES_TRACE_LOCK_WAIT, LOCK, LOW);
    need_effective(MID, 30, "it is lent further");
    oracle_record(now, CAMKES_TRACE_COND_WAKE, MANAGER, TASK_HIGH,
                  (const uint64_t[ORACLE_ARGUMENTS]){5, HIGH, 0, 0});
    need_effective(LOW, 10, "the wait has ended");
    need_effective(MID, 20, "for all");
    oracle_record(now, CAMKES_TRACE_COND_WAIT, MANAGER, TASK_LOW,
                  (const uint64_t[ORACLE_ARGUMENTS]){5, LOW, 10, 0});
    need_effective(LOW, 10, "a helper that waits itself");
    contexts[LOW].helps = contexts[MID].helps = false;
}

static void of_replies(void)
{
    begin();
    oracle_record(now, CAMKES_TRACE_TRANSFER, TASK_LOW, OF_LOW,
                  (const uint64_t[ORACLE_ARGUMENTS]){0});
    record(CAMKES_TRACE_BLOCK, TASK_LOW, CAMKES_BLOCK_REPLY, 0, 0, 0);
    record(CAMKES_TRACE_BLOCK, OF_LOW, CAMKES_BLOCK_NOTIFICATION, 0, 0, 0);
    expect("", "a worker that waits for something else");
    record(CAMKES_TRACE_BLOCK, OF_LOW, CAMKES_BLOCK_RECV, 0, 0, 0);
    expect("L", "a worker that has not answered and waits for the next message");
    record(CAMKES_TRACE_KCALL, OF_LOW, CAMKES_KCALL_SAVECALLER, 0, 0, 0);
    record(CAMKES_TRACE_BLOCK, OF_LOW, CAMKES_BLOCK_RECV, 0, 0, 0);
    expect("", "one that keeps the reply for later");
    at_end(CAMKES_END_IDLE);
    expect("L", "a thread that never gets its reply");
    record(CAMKES_TRACE_FAULT, INNER_LOW, 0, 0, 0, 0);
    at_end(CAMKES_END_IDLE);
    expect("", "after a fault threads may wait");
}

static void of_jobs_at_the_end(void)
{
    begin();
    record(CAMKES_TRACE_JOB_BEGIN, TASK_LOW, 0, 0, 0, 0);
    now = 1000;
    record(CAMKES_TRACE_JOB_END, TASK_LOW, 0, 0, 0, 0);
    expect("", "a job that ends at its deadline");
    record(CAMKES_TRACE_JOB_BEGIN, TASK_LOW, 1, 1000, 0, 0);
    now = 2000;
    at_end(CAMKES_END_TIME);
    expect("", "a job whose deadline is now");
    now = 2001;
    at_end(CAMKES_END_TIME);
    expect("D", "a job that has not ended after its deadline");
    record(CAMKES_TRACE_JOB_END, TASK_LOW, 1, 1000, 0, 0);
    expect("D", "a job that ends after its deadline");
    if (strcmp(said, "job 1 of low ends 1 ns after its deadline") != 0) {
        expect(said, "what is said of it");
    }
}

static void of_ends(void)
{
    begin();
    record(CAMKES_TRACE_CALL_BEGIN, TASK_HIGH, LOCK, 0, 0, 0);
    at_end(CAMKES_END_TIME);
    expect("", "a call that is under way");
    at_end(CAMKES_END_IDLE);
    expect("L", "a call that never returns");
    record(CAMKES_TRACE_CALL_END, TASK_HIGH, LOCK, 0, 0, 0);
    record(CAMKES_TRACE_JOB_BEGIN, TASK_HIGH, 0, 0, 0, 0);
    at_end(CAMKES_END_IDLE);
    expect("L", "a job that never ends");
    record(CAMKES_TRACE_JOB_END, TASK_HIGH, 0, 0, 0, 0);
    record(CAMKES_TRACE_BLOCK, TASK_HIGH, CAMKES_BLOCK_SEND, 0, 0, 0);
    at_end(CAMKES_END_IDLE);
    expect("L", "a thread that never sends");

    begin();
    lock(CAMKES_TRACE_LOCK_TAKE, LOCK, LOW);
    lock(CAMKES_TRACE_LOCK_WAIT, LOCK, MID);
    record(CAMKES_TRACE_CALL_BEGIN, TASK_LOW, CPIS, 0, 0, 0); /* of no CPI */
    only(THREADS);
    at_end(CAMKES_END_IDLE);
    expect("LZ", "a context that waits for a lock for ever");

    begin();
    lock(CAMKES_TRACE_LOCK_TAKE, LOCK, LOW);
    only(THREADS);
    oracle_record(now, CAMKES_TRACE_IDLE, NONE, NONE, (const uint64_t[ORACLE_ARGUMENTS]){0});
    expect("Z", "a lock that is left over");
    lock(CAMKES_TRACE_LOCK_FREE, LOCK, LOW);
    record(CAMKES_TRACE_PRIORITY, OF_LOW, 10, 20, 0, 0);
    oracle_record(now, CAMKES_TRACE_IDLE, NONE, NONE, (const uint64_t[ORACLE_ARGUMENTS]){0});
    expect("Z", "a priority that is left over");
    record(CAMKES_TRACE_PRIORITY, OF_LOW, 20, 10, 0, 0);
    oracle_record(now, CAMKES_TRACE_IDLE, NONE, NONE, (const uint64_t[ORACLE_ARGUMENTS]){0});
    expect("", "nothing is left over");
    record(CAMKES_TRACE_SWITCH, TASK_HIGH, 0, 0, 0, 0);
    record(CAMKES_TRACE_BLOCK, TASK_HIGH, CAMKES_BLOCK_RECV, 0, 0, 0);
    record(CAMKES_TRACE_READY, TASK_LOW, 0, 0, 0, 0);
    oracle_record(now, CAMKES_TRACE_IDLE, NONE, NONE, (const uint64_t[ORACLE_ARGUMENTS]){0});
    expect("P", "no thread runs although one could");
}

int main(void)
{
    static void (*const all[])(void) = {
        of_requests,  of_tasks,      of_locks,   of_equals,
        of_deadlocks, of_priorities, of_workers, of_expected_priorities,
        of_managers,  of_helpers,    of_replies, of_jobs_at_the_end,
        of_ends};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        all[i]();
    }
    printf("good\n");
    return 0;
}
