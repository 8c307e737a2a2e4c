/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The handler of a task's overruns gets timeout faults: which are overruns, and what follows. */
#include <camkes/criticality.h>
#include <camkes/task.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

enum { MANAGER = 3, TIME, RAISE, EXTENSION, TCB, REPLY };

struct fault {
    const char *what;
    bool begins;        /* a job, before the fault */
    seL4_Word consumed; /* us, since the last fault of the job */
    bool refilled;      /* the next part of the budget can be used now */
    bool overrun;
    bool stops;     /* the policy: a job is stopped, and goes on if there is budget after all */
    bool came_back; /* from a request */
};

/* Of a budget of 10 ms. */
static const struct fault faults[] = {
    {"all at once", true, 10000, false, true, false, false},
    {"what is left is less than 20 us", true, 9981, false, true, false, false},
    {"what the job used before its count began", true, 9961, false, true, false, false},
    {"more is left, in another part", true, 9959, true, false, false, false},
    {"parts of a budget: the first", true, 4000, true, false, false, false},
    {"the second, which is not refilled", false, 3000, false, false, false, false},
    {"the third", false, 2985, false, true, false, false},
    {"little since the last fault: it was used up in a request", true, 50, false, true, false,
     true},
    {"a job to be stopped that has budget after all", true, 10000, true, false, true, false},
    {NULL, false, 0, false, false, false, false},
};

struct camkes_level _camkes_level;
static struct camkes_thread control = {.name = "t", .tcb = TCB},
                            self = {.name = "h", .reply = REPLY};
static struct camkes_task task;
static struct camkes_budget budget = {.task = &task,
                                      .size = {10000, 20000},
                                      .manager = MANAGER,
                                      .time = TIME,
                                      .raise = RAISE,
                                      .control = &control};
static const struct fault *next = faults;
static unsigned raised, kept, binds, replies;
static jmp_buf done;
static seL4_IPCBuffer buffer;

static void need(bool good, const char *text)
{
    if (!good) {
        printf("%s: %s\n", next->what, text);
        exit(1);
    }
}

seL4_IPCBuffer *seL4_GetIPCBuffer(void)
{
    return &buffer;
}

static void begins_again(struct camkes_thread *thread)
{
    (void)thread;
}

static seL4_MessageInfo_t fault(void)
{
    if (next->what == NULL) {
        longjmp(done, 1);
    }
    if (next->begins) {
        task.used = 0;
    }
    raised = kept = binds = replies = 0;
    budget.again = next->stops ? begins_again : NULL;
    seL4_SetMR(seL4_Timeout_Consumed, next->consumed);
    return seL4_MessageInfo_new(seL4_Fault_Timeout, 0, 0, 2);
}

/* Checks what came of a fault, all of which are answered. */
static void check(void)
{
    need(raised == (next->overrun ? 1 : 0), "the criticality");
    need(kept == 1, "a reply that the thread has got is lost");
    /* without a refill the thread is answered first, and gets its context then, to wait for it */
    need(binds == (next->refilled || next->overrun ? 1 : 2), "its own time");
    next++;
}

seL4_MessageInfo_t seL4_Recv(seL4_CPtr from, seL4_Word *badge, seL4_CPtr reply)
{
    (void)badge;
    need(from == MANAGER && reply == REPLY, "where messages come from");
    if (replies > 0) {
        check();
    }
    return fault();
}

seL4_MessageInfo_t seL4_ReplyRecv(seL4_CPtr from, seL4_MessageInfo_t info, seL4_Word *badge,
                                  seL4_CPtr reply)
{
    need(seL4_MessageInfo_get_label(info) == 0, "the thread does not go on");
    need(replies == 0, "two replies");
    check();
    return seL4_Recv(from, badge, reply);
}

void seL4_Send(seL4_CPtr to, seL4_MessageInfo_t info)
{
    need(to == REPLY && seL4_MessageInfo_get_label(info) == 0, "the thread does not go on");
    need(binds == 1, "it was answered before it was known whether it has budget");
    replies++;
}

seL4_MessageInfo_t seL4_Call(seL4_CPtr to, seL4_MessageInfo_t info)
{
    (void)info;
    need(to == RAISE && binds == 0, "the time manager");
    raised++;
    return seL4_MessageInfo_new(0, 0, 0, 0);
}

/* A raised criticality brings a larger budget. */
seL4_Error seL4_SchedContext_Bind(seL4_CPtr context, seL4_CPtr tcb)
{
    need(context == TIME && tcb == TCB, "another time");
    return binds++ > 0 || next->refilled || raised > 0 ? seL4_NoError : seL4_IllegalOperation;
}

seL4_Error seL4_SchedContext_UnbindObject(seL4_CPtr context, seL4_CPtr tcb)
{
    need(context == TIME && tcb == TCB, "another time");
    return seL4_NoError;
}

bool camkes_platform_keep_reply(const struct camkes_thread *thread)
{
    need(thread == &control && replies == 0, "the thread goes on before");
    kept++;
    return next->came_back;
}

void camkes_platform_restart(const struct camkes_thread *thread, void (*entry)(void))
{
    (void)thread;
    (void)entry;
    need(false, "the job is stopped");
}

void camkes_platform_end_thread(void)
{
}

void camkes_request_abandoned(void)
{
}

uint64_t camkes_release_time(const struct camkes_task *of, uint64_t job)
{
    (void)of;
    return job;
}

void camkes_host_annotate(uint16_t kind, uint16_t other, unsigned n, const uint64_t *arguments)
{
    (void)kind;
    (void)other;
    (void)n;
    (void)arguments;
}

int main(void)
{
    camkes_set_self(&self);
    self.interface = &budget;
    if (setjmp(done) == 0) {
        camkes_handle_overruns(&self);
    }
    puts("good");
    return 0;
}
