/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: RT-31 */
/* Jobs of tasks: when each begins and ends, and what is called then. */
#include "kernel_log.h"

#include <camkes/realtime.h>
#include <camkes/request.h>
#include <camkes/task.h>

enum { TIMER = 20, RELEASE, SCHEDULER, TCB, HANDLER, TIME };

static struct camkes_task task, wanted;
static struct camkes_thread self = {.name = "t", .task = &task, .tcb = TCB, .priority = 30};
static uint64_t now, falls; /* falls: the release from which the criticality is 0 */
#if CAMKES_MCS
struct camkes_level _camkes_level;
#endif

void camkes_platform_timer_await(seL4_CPtr timer, seL4_CPtr notification, uint64_t expirations,
                                 uint64_t time)
{
    note("release %lu of %lu by %lu\n", (unsigned long)expirations, (unsigned long)timer,
         (unsigned long)notification);
    need(time == task.offset + expirations * task.period, "the time of the release");
#if CAMKES_MCS
    if (expirations == falls) {
        atomic_store(&_camkes_level.level, 0);
    }
#endif
}

void camkes_platform_timer_arm(seL4_CPtr timer, uint64_t first, uint64_t period)
{
    note("arm %lu: %lu, %lu\n", (unsigned long)timer, (unsigned long)first, (unsigned long)period);
}

uint64_t camkes_platform_now(void)
{
    return now;
}

void camkes_platform_work(uint64_t ns)
{
    note("work %lu\n", (unsigned long)ns);
}

void camkes_platform_work_between(uint64_t low, uint64_t high)
{
    note("work %lu to %lu\n", (unsigned long)low, (unsigned long)high);
}

static void begin(uint64_t offset, uint64_t period)
{
    task = (struct camkes_task){
        .release = RELEASE, .timer = TIMER, .offset = offset, .period = period};
    camkes_set_self(&self);
    falls = UINT64_MAX;
    answer = CAMKES_MESSAGE_GOOD;
}

/* What a call changes. */
static void need_task(const char *calls, uint64_t next, uint64_t begun_last, bool in_job)
{
    wanted.next = next;
    wanted.begun_last = begun_last;
    wanted.in_job = in_job;
    need_calls(calls);
    need(task.next == next, "the number of the next job");
    need(memcmp(&task, &wanted, sizeof task) == 0, "something else of the task");
}

static void want(void)
{
    memcpy(&wanted, &task, sizeof task);
}

static void test_periodic(void)
{
    begin(1000, 100);
    want();
    camkes_begin_task(&task);
    need_task("release 0 of 20 by 21\njob begins: 0 1000\n", 1, 1, true);
    need(camkes_next_job(), "the first call is in job 0");
    wanted.claimed = true;
    need_task("", 1, 1, true);
    for (unsigned i = 1; i < 3; i++) {
        need(camkes_next_job(), "there are more");
        need_task(i == 1 ? "job ends: 0 1000\nrelease 1 of 20 by 21\njob begins: 1 1100\n"
                         : "job ends: 1 1100\nrelease 2 of 20 by 21\njob begins: 2 1200\n",
                  i + 1, i + 1, true);
    }
    camkes_end_task(&task);
    need_task("job ends: 2 1200\narm 20: 0, 0\n", 3, 3, false);
    camkes_end_task(&task);
    need_task("arm 20: 0, 0\n", 3, 3, false);
    camkes_begin_task(NULL);
    camkes_end_task(NULL);
    need_calls("");
}

static void test_one_job(void)
{
    for (unsigned i = 0; i < 2; i++) { /* at boot, and later */
        begin(i * 500, 0);
        want();
        camkes_begin_task(&task);
        need_task(i == 0 ? "job begins: 0 0\n" : "release 0 of 20 by 21\njob begins: 0 500\n", 1, 1,
                  true);
        need(camkes_next_job(), "the first call is in job 0");
        wanted.claimed = true;
        need(!camkes_next_job(), "there are no more");
        need_task(i == 0 ? "job ends: 0 0\n" : "job ends: 0 500\n", 1, 1, false);
        need(!camkes_next_job(), "there are no more");
        need_task("", 1, 1, false);
    }
    begin(0, 100); /* a timer runs */
    want();
    camkes_begin_task(&task);
    need_task("release 0 of 20 by 21\njob begins: 0 0\n", 1, 1, true);
    struct camkes_thread other = {.name = "o"};
    camkes_set_self(&other);
    need(!camkes_next_job(), "no task has jobs");
    need_calls("");
}

static void test_by_event(void)
{
    begin(0, 0);
    task.timer = 0;
    now = 77;
    want();
    wanted.begun = 77;
    camkes_begin_task(&task);
    need_task("wait 21\njob begins: 0 77\n", 1, 1, true);
    need(camkes_next_job(), "the first call is in job 0");
    now = 99;
    need(camkes_next_job(), "another event");
    wanted.begun = 99;
    wanted.claimed = true;
    need_task("job ends: 0 77\nwait 21\njob begins: 1 99\n", 2, 2, true);
    need(camkes_release_time(&task, 5) == 99, "an event has no period");
    camkes_end_task(&task);
    need_task("job ends: 1 99\n", 2, 2, false);
}

/* Its scheduler sets the priority of the task before a job begins, and after it has ended. */
static void test_scheduler(void)
{
    begin(1000, 0);
    task.scheduler = SCHEDULER;
    task.deadline = ((uint64_t)3 << 32) + 234;
    want();
    camkes_begin_task(&task);
    need_task("release 0 of 20 by 21\ncall 0x1 to 22 1234 3\njob begins: 0 1000\n", 1, 1, true);
    camkes_end_task(&task);
    need_task("job ends: 0 1000\ncall 0x2 to 22 0 0\narm 20: 0, 0\n", 1, 1, false);
    begin(0, 0);
    task.scheduler = SCHEDULER;
    answer = CAMKES_MESSAGE_OPERATION;
    UNTIL_OVER(camkes_begin_task(&task));
    need_calls("call 0x1 to 22 0 0\nthe manager of its band refused what thread t asked it for\n");
}

/* The thread's priority is that of its work. */
static void test_requests(void)
{
    begin(0, 0);
    camkes_work(5);
    camkes_work_between(6, 7);
    need_calls("work 5\nwork 6 to 7\n");
    now = 12;
    need(camkes_now() == 12, "another time");
    need(camkes_request_priority() == 30, "the priority of the thread");
    struct camkes_context context;
    atomic_init(&context.effective, 40);
    self.context = &context;
    need(camkes_request_priority() == 40, "the effective priority of the request");
    self.context = NULL;
    self.label = camkes_request_label((struct camkes_request_label){.task = 5});
    need(camkes_requestor() == 5, "the task that is worked for");
    self.label = CAMKES_LABEL_NONE;
    need(camkes_requestor() == -1, "no task");
    need(!camkes_request_aborted(), "no request was aborted");
#if CAMKES_MCS
    static const uint8_t priorities[CAMKES_LEVELS] = {10, 60, 70, 70};
    self.priorities = priorities;
    atomic_store(&_camkes_level.level, 2);
    need(camkes_request_priority() == 70, "the priority at a criticality");
    atomic_store(&_camkes_level.level, 0);
    self.priorities = NULL;
    self.aborted = true;
    need(camkes_request_aborted() && !camkes_request_aborted(), "it is said once");
#endif
}

#if CAMKES_MCS
/* Above its criticality a task begins no job, or one of each `stretch`. */
static void test_left_out(void)
{
    begin(0, 10);
    task.criticality = 1;
    atomic_store(&_camkes_level.level, 2);
    falls = 2;
    want();
    camkes_begin_task(&task);
    need_task("release 0 of 20 by 21\njob left out: 0\nrelease 1 of 20 by 21\njob left out: 1\n"
              "release 2 of 20 by 21\njob begins: 2 20\n",
              3, 3, true);
    begin(0, 10);
    task.criticality = 1;
    atomic_store(&_camkes_level.level, 1);
    want();
    camkes_begin_task(&task);
    need_task("release 0 of 20 by 21\njob begins: 0 0\n", 1, 1, true);
    begin(0, 10);
    task.stretch = 3;
    task.claimed = true;
    want();
    camkes_begin_task(&task);
    need_task("release 0 of 20 by 21\njob begins: 0 0\n", 1, 1, true);
    need(camkes_next_job(), "there are more");
    need_task("job ends: 0 0\nrelease 1 of 20 by 21\njob left out: 1\nrelease 2 of 20 by 21\n"
              "job left out: 2\nrelease 3 of 20 by 21\njob begins: 3 30\n",
              4, 4, true);
    begin(0, 10);
    task.stretch = 1;
    want();
    camkes_begin_task(&task);
    need_task("release 0 of 20 by 21\njob begins: 0 0\n", 1, 1, true);
    begin(0, 10); /* its first job is due, whatever `stretch` is */
    task.stretch = 5;
    want();
    camkes_begin_task(&task);
    need_task("release 0 of 20 by 21\njob begins: 0 0\n", 1, 1, true);
    atomic_store(&_camkes_level.level, 0);
}

/* The handler of overruns counts from the beginning of each job. */
static void test_budget(void)
{
    const struct camkes_budget budget = {.timeout = HANDLER, .time = TIME, .control = &self};
    begin(0, 10);
    task.budget = &budget;
    task.used = 5;
    task.claimed = true;
    want();
    wanted.used = 0;
    camkes_begin_task(&task);
    need_task("timeouts 23 to 24\nrelease 0 of 20 by 21\nconsumed 25\njob begins: 0 0\n", 1, 1,
              true);
    task.used = 7;
    task.extended = wanted.extended = true;
    task.scheduler = wanted.scheduler = SCHEDULER;
    need(camkes_next_job(), "there are more");
    need_task("job ends: 0 0\ncall 0 to 24\ncall 0x2 to 22 0 0\nrelease 1 of 20 by 21\n"
              "consumed 25\ncall 0x1 to 22 10 0\njob begins: 1 10\n",
              2, 2, true);
    begin(0, 10);
    task.budget = &budget;
    refuse("timeouts 23 to 24");
    UNTIL_OVER(camkes_begin_task(&task));
    need_calls("timeouts 23 to 24\nfault\n");
}
#endif

int main(void)
{
    test_periodic();
    test_one_job();
    test_by_event();
    test_scheduler();
    test_requests();
#if CAMKES_MCS
    test_left_out();
    test_budget();
#endif
    puts("good");
    return 0;
}
