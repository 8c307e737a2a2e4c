/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: RT-22 */
/* The handler of a task's overruns gets timeout faults: which are overruns, and what follows. */
#include "kernel_log.h"

#include <camkes/task.h>

enum { MANAGER = 3, TIME, RAISE, EXTENSION, TCB, REPLY, NUMBER = 40 };
#define FAULT seL4_Fault_Timeout

struct camkes_level _camkes_level;
static struct camkes_thread control, self = {.name = "h", .reply = REPLY};
static struct camkes_task task, wanted;
static struct camkes_budget budget;
static bool came_back; /* the control thread got a reply meanwhile */
static void (*restarted)(void);

bool camkes_platform_keep_reply(const struct camkes_thread *thread)
{
    need(thread == &control, "another thread");
    note("keep\n");
    return came_back;
}

void camkes_platform_restart(const struct camkes_thread *thread, void (*entry)(void))
{
    need(thread == &control, "another thread");
    note("restart\n");
    restarted = entry;
}

void camkes_platform_end_thread(void)
{
    note("end of the thread\n");
}

void camkes_request_abandoned(void)
{
    note("abandon\n");
}

uint64_t camkes_release_time(const struct camkes_task *of, uint64_t job)
{
    need(of == &task, "another task");
    return 1000 + job;
}

static void again(struct camkes_thread *thread)
{
    need(thread == &control, "another thread");
    note("again\n");
}

/* In a job of a task that has 10 ms, and 20 ms at criticality 1. */
static void begin(void)
{
    control = (struct camkes_thread){.name = "t", .tcb = TCB, .number = NUMBER, .task = &task};
    task = (struct camkes_task){.budget = &budget, .in_job = true, .claimed = true, .next = 6};
    budget = (struct camkes_budget){.task = &task,
                                    .size = {10000, 20000, 20000, 20000},
                                    .manager = MANAGER,
                                    .time = TIME,
                                    .control = &control};
    self.interface = &budget;
    camkes_set_self(&self);
    came_back = false;
}

/* A message, the calls that it leads to, and whether these have answered it. */
static void need_handled(seL4_Word label, uint64_t used, bool answered, const char *calls)
{
    const struct message one = {0, label, {~(seL4_Word)0, used}};
    char all[400];
    (void)snprintf(all, sizeof all, "receive 3 with 8\n%s%sreceive 3 with 8\n", calls,
                   answered ? "" : "reply 0 to 8\n");
    memcpy(&wanted, &task, sizeof task);
    wanted.used += label == FAULT ? used : 0;
    script = &one;
    messages = 1;
    UNTIL_OVER(camkes_handle_overruns(&self));
    need_calls(all);
}

static void need_task(const char *what)
{
    need(memcmp(&task, &wanted, sizeof task) == 0, what);
}

/* A fault after so much of the budget, us: was the job's budget used up, or a part of it only? */
static void need_overrun(uint64_t used, bool overrun)
{
    need_handled(FAULT, used, false,
                 overrun ? "keep\nunbind 4 to 7\ncall 0 to 5\nbind 4 to 7\n"
                         : "keep\nunbind 4 to 7\nbind 4 to 7\n");
    need_task("what the job has used");
}

/* The end of a part of the budget is a fault, and no overrun. */
static void test_spurious_faults(void)
{
    static const struct {
        uint64_t used;
        bool overrun;
    } faults[] = {
        {10000, true}, /* all at once */
        {9981, true},  /* what is left is less than 20 us */
        {9961, true},  /* what the job used before its count began */
        {9960, false}, /* more is left, in another part */
    };
    for (unsigned i = 0; i < sizeof faults / sizeof *faults; i++) {
        begin();
        budget.raise = RAISE;
        need_overrun(faults[i].used, faults[i].overrun);
    }
    begin();
    budget.raise = RAISE; /* parts of a budget */
    need_overrun(4000, false);
    need_overrun(3000, false);
    need_overrun(2985, true);
    begin();
    budget.raise = RAISE;
    came_back = true; /* the rest was used up in a request */
    need_overrun(50, true);
    begin();
    budget.raise = RAISE;
    atomic_store(&_camkes_level.level, 1);
    need_overrun(19960, false);
    need_overrun(1, true);
    atomic_store(&_camkes_level.level, 0);
}

/* Without a policy, or at the highest criticality, it waits for the refill: the thread is answered
 * first, and gets its context then. */
static void test_wait(void)
{
    for (unsigned i = 0; i < 3; i++) {
        begin();
        budget.raise = i == 2 ? RAISE : 0;
        budget.extension = i == 0 ? EXTENSION : 0;
        refuse("bind 4 to 7");
        need_handled(FAULT, i == 0 ? 1000 : 10000, true,
                     i < 2 ? "keep\nunbind 4 to 7\nbind 4 to 7\nsend 0 to 8\nbind 4 to 7\n"
                           : "keep\nunbind 4 to 7\ncall 0 to 5\nbind 4 to 7\nsend 0 to 8\n"
                             "bind 4 to 7\n");
        need_task(i == 0 ? "a part is used up, and the next one comes later" : "it is used up");
    }
}

static void test_extend(void)
{
    begin();
    budget.extension = EXTENSION;
    refuse("bind 4 to 7");
    need_handled(FAULT, 10000, false, "keep\nunbind 4 to 7\nbind 4 to 7\nbind 6 to 7\n");
    wanted.extended = true;
    need_task("it goes on with the extension");
    need_handled(FAULT, 2000, false, "keep\nunbind 6 to 7\nbind 6 to 7\n");
    need_task("only a part of the extension is used up");
    refuse("bind 6 to 7");
    need_handled(FAULT, 2000, false, "keep\nunbind 6 to 7\nbind 6 to 7\nbind 4 to 7\n");
    wanted.extended = false;
    need_task("its own budget came back");
    task.extended = true;
    refuse("bind 6 to 7");
    refuse("bind 4 to 7");
    need_handled(FAULT, 2000, true,
                 "keep\nunbind 6 to 7\nbind 6 to 7\nbind 4 to 7\nsend 0 to 8\nbind 4 to 7\n");
    wanted.extended = false;
    need_task("it waits for the refill of its own");
    begin();
    budget.extension = EXTENSION;
    refuse("bind 4 to 7");
    refuse("bind 6 to 7");
    need_handled(FAULT, 10000, true,
                 "keep\nunbind 4 to 7\nbind 4 to 7\nbind 6 to 7\nsend 0 to 8\nbind 4 to 7\n");
    need_task("the extension is used up as well");
}

/* The next job begins with the budget of the task. */
static void test_end_of_job(void)
{
    for (unsigned i = 0; i < 2; i++) {
        begin();
        budget.extension = EXTENSION;
        budget.again = again;
        budget.raise = RAISE;
        task.extended = true;
        if (i == 1) {
            refuse("bind 4 to 7");
        }
        need_handled(0, 20000, i == 1,
                     i == 0 ? "unbind 6 to 7\nbind 4 to 7\n"
                            : "unbind 6 to 7\nbind 4 to 7\nsend 0 to 8\nbind 4 to 7\n");
        wanted.extended = false;
        need_task("it has its own");
    }
}

static void test_several(void)
{
    static const struct message two[] = {{0, FAULT, {0, 10000}}, {0, 0, {0, 0}}};
    begin();
    budget.raise = RAISE;
    script = two;
    messages = 2;
    UNTIL_OVER(camkes_handle_overruns(&self));
    need_calls("receive 3 with 8\nkeep\nunbind 4 to 7\ncall 0 to 5\nbind 4 to 7\nreply 0 to 8\n"
               "receive 3 with 8\nunbind 4 to 7\nbind 4 to 7\nreply 0 to 8\nreceive 3 with 8\n");
}

static void test_stop(void)
{
    begin();
    budget.again = again;
    need_handled(FAULT, 10000, false, "keep\nunbind 4 to 7\nbind 4 to 7\n");
    need_task("it has budget after all");
    begin();
    budget.again = again;
    refuse("bind 4 to 7");
    need_handled(FAULT, 5000, true, "keep\nunbind 4 to 7\nbind 4 to 7\nsend 0 to 8\nbind 4 to 7\n");
    need_task("only a part is used up");
    refuse("bind 4 to 7");
    need_handled(FAULT, 5000, true,
                 "keep\nunbind 4 to 7\nbind 4 to 7\n"
                 "job stops: 5 1005 of thread 40\nrestart\nbind 4 to 7\n");
    wanted.in_job = wanted.claimed = false;
    need_task("the next job begins as the first one");
    camkes_set_self(&control);
    restarted();
    need_calls("abandon\nagain\nend of the thread\n");
}

int main(void)
{
    test_spurious_faults();
    test_wait();
    test_extend();
    test_end_of_job();
    test_several();
    test_stop();
    puts("good");
    return 0;
}
