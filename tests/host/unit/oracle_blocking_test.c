/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: HOST-12 */
/* Work of lower tasks counts while a task could go on, up to its limit, and no longer. */
#include "violation.h"

#include <stdlib.h>
#include <string.h>

enum { OF_LOW, OF_MID, OF_HIGH, WORKER, MANAGER, PLAIN, THREADS };
enum { LOW = 4, MID = 5, HIGH = 7 }; /* ids of tasks */

static struct oracle_thread known[THREADS] = {
    [OF_LOW] = {.role = ORACLE_CONTROL, .task = LOW},
    [OF_MID] = {.role = ORACLE_CONTROL, .task = MID},
    [OF_HIGH] = {.role = ORACLE_CONTROL, .task = HIGH},
    [WORKER] = {.role = ORACLE_WORKER, .task = NONE},
    [MANAGER] = {.role = ORACLE_MANAGER, .task = NONE},
    [PLAIN] = {.role = ORACLE_INTERFACE, .task = NONE},
};
static struct oracle_task tasks[] = {{.name = "low", .id = LOW, .priority = 10},
                                     {.name = "mid", .id = MID, .priority = 20},
                                     {.name = "high", .id = HIGH, .priority = 30}};
static struct oracle_limit limits[2];
struct oracle_system oracle_system = {
    .threads = known, .tasks = tasks, .limits = limits, .thread_count = THREADS, .task_count = 3};
static struct oracle_memory threads[THREADS];
static struct oracle_blocked blocked[2];
static struct oracle now = {.threads = threads, .blocked = blocked};
struct oracle *oracle = &now;

static void expect(const char *text, const char *what)
{
    if (strcmp(said, text) != 0) {
        printf("%s: \"%s\" and not \"%s\"\n", what, said, text);
        exit(1);
    }
    said[0] = 0;
}

/* All threads wait, but that of the high task could run. */
static void begin(struct oracle_limit of_high, struct oracle_limit of_mid)
{
    limits[0] = of_high;
    limits[1] = of_mid;
    oracle_system.limit_count = 2;
    memset(blocked, 0, sizeof blocked);
    for (unsigned i = 0; i < THREADS; i++) {
        threads[i] = (struct oracle_memory){.reason = CAMKES_BLOCK_RECV,
                                            .call_cpi = NONE,
                                            .waits_for = NONE,
                                            .receiver = NONE,
                                            .origin = NONE};
    }
    threads[OF_HIGH].runnable = true;
}

static void begin_with(uint16_t most, uint64_t time)
{
    begin((struct oracle_limit){HIGH, most, time}, (struct oracle_limit){MID, 0, 0});
}

static void of_limits(void)
{
    begin_with(1, 100);
    oracle_blocking_worked(OF_LOW, 40);
    oracle_blocking_worked(OF_LOW, 60);
    expect("", "one task, as long as it may");
    oracle_blocking_worked(OF_LOW, 1);
    expect("B: low works before high could go on; with it tasks of lower priority have for 101 ns, "
           "and by the analysis can for at most 100 ns",
           "one that works too long");
    begin_with(1, UINT64_MAX);
    threads[WORKER].origin = LOW;
    oracle_blocking_worked(WORKER, 1000);
    oracle_blocking_worked(OF_HIGH, 1000);
    threads[WORKER].origin = HIGH;
    oracle_blocking_worked(WORKER, 1000);
    threads[WORKER].origin = NONE;
    oracle_blocking_worked(WORKER, 1000);
    expect("", "one task, and the job itself");
    oracle_blocking_worked(OF_MID, 0);
    expect(
        "B: mid works before high could go on; it is number 2 of the tasks of lower priority that "
        "have, and by the analysis at most 1 can",
        "two tasks");
    begin_with(NONE, UINT64_MAX);
    oracle_blocking_worked(OF_MID, 1000);
    oracle_blocking_worked(OF_LOW, 1000);
    expect("", "no limit");
    /* the task of the second limit waits for its release */
    threads[OF_MID].reason = CAMKES_BLOCK_NOTIFICATION;
    oracle_blocking_worked(OF_LOW, 1);
    expect("", "a task that waits");
    threads[OF_MID].runnable = true;
    oracle_blocking_worked(OF_HIGH, 1);
    expect("", "a task of higher priority");
    oracle_blocking_worked(OF_LOW, 0);
    expect(
        "B: low works before mid could go on; it is number 1 of the tasks of lower priority that "
        "have, and by the analysis at most 0 can",
        "a task that waits for nothing");
}

/* Whether work of a lower task counts in this state of the threads. */
static bool counts(void)
{
    oracle_blocking_worked(OF_LOW, 0);
    const bool found = said[0] != 0;
    said[0] = 0;
    return found;
}

static void need(bool good, const char *what)
{
    if (!good) {
        printf("%s\n", what);
        exit(1);
    }
}

static void block(unsigned thread, uint8_t reason, uint16_t receiver)
{
    threads[thread].runnable = false;
    threads[thread].reason = reason;
    threads[thread].receiver = receiver;
}

static void of_waits(void)
{
    begin_with(0, UINT64_MAX);
    need(counts(), "a task that could run");
    block(OF_HIGH, CAMKES_BLOCK_NOTIFICATION, NONE);
    need(!counts(), "a task that waits for its release");
    block(OF_HIGH, CAMKES_BLOCK_CALL, NONE);
    need(!counts(), "a request without a protocol");
    threads[OF_HIGH].call_cpi = 3;
    need(counts(), "a request that no thread has received");
    block(OF_HIGH, CAMKES_BLOCK_REPLY, WORKER);
    need(!counts(), "a request whose server waits for something else");
    threads[WORKER].runnable = true;
    need(counts(), "a request that is served");
    block(WORKER, CAMKES_BLOCK_REPLY, MANAGER);
    need(!counts(), "a server whose manager waits");
    threads[WORKER].queued = true;
    need(counts(), "a server that waits for a lock");
    threads[WORKER].waits_for = 1;
    need(!counts(), "a server that waits for a condition");
    block(OF_HIGH, CAMKES_BLOCK_REPLY, PLAIN);
    threads[PLAIN].runnable = true;
    need(!counts(), "a server without a protocol");
    block(OF_HIGH, CAMKES_BLOCK_REPLY, NONE);
    need(!counts(), "a request whose reply was kept");
    block(OF_HIGH, CAMKES_BLOCK_REPLY, OF_HIGH);
    need(!counts(), "a task that waits for itself");
}

/* What has worked before a wait, or before the end of a job, does not count after it. */
static void of_ends(void)
{
    begin_with(1, UINT64_MAX);
    oracle_blocking_worked(OF_LOW, 7);
    oracle_blocking_waits();
    oracle_blocking_of_job(MID);
    need(blocked[0].lower == 1 && blocked[0].time == 7, "the thread still could go on");
    oracle_blocking_of_job(HIGH);
    need(blocked[0].lower == 0 && blocked[0].time == 0, "the job has ended");
    oracle_blocking_worked(OF_LOW, 7);
    block(OF_HIGH, CAMKES_BLOCK_NOTIFICATION, NONE);
    oracle_blocking_waits();
    need(blocked[0].lower == 0 && blocked[0].time == 0, "the task waits");
    threads[OF_HIGH].runnable = true;
    oracle_blocking_worked(OF_MID, 0);
    block(OF_HIGH, CAMKES_BLOCK_NOTIFICATION, NONE);
    oracle_blocking_worked(OF_LOW, 0);
    need(blocked[0].lower == 0, "the task waits while another works");
    expect("", "each of them is within the limit");
}

int main(void)
{
    of_limits();
    of_waits();
    of_ends();
    printf("good\n");
    return 0;
}
