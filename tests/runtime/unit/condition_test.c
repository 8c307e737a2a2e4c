/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: RT-26 */
/* Conditions with helpers: when the manager of the group is asked, by whom, and for what. */
#include <camkes/condition.h>
#include <camkes/error.h>
#include <camkes/label.h>
#include <camkes/timer_protocol_sel4.h>
#include <limits.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct camkes_context contexts[3];
static struct camkes_cpi cpi = {.context = contexts, .contexts = 3};
static struct camkes_thread first = {.name = "first"},
                            second = {.name = "second", .cpi = &cpi, .context = &contexts[2]},
                            stranger = {.name = "stranger"};
static const struct camkes_condition_user waiters[] = {{&first, 11}, {&second, 12}};
static struct camkes_condition condition = {.name = "c", .user = waiters, .users = 2};
static seL4_CPtr asked;
static seL4_Word label;
static int seen;           /* the value while the manager is asked */
static _Atomic int *taken; /* at the next point by another thread */
static int later;          /* points before that */
static unsigned returned;  /* what goes back before a wait */
static bool fails;
static jmp_buf failed;
enum { NOT_ASKED = 1000 };
static seL4_IPCBuffer buffer;

static void need(bool good, const char *what)
{
    if (!good) {
        printf("%s: value %d, asked %d, label %#lx\n", what, condition.value, (int)asked,
               (unsigned long)label);
        exit(1);
    }
}

seL4_IPCBuffer *seL4_GetIPCBuffer(void)
{
    return &buffer;
}

void camkes_host_point(void)
{
    if (taken != NULL && later-- == 0) {
        *taken = 0;
        later = 0;
        taken = NULL;
    }
}

void camkes_ask_manager(seL4_CPtr manager, seL4_Word of, const char *name)
{
    need(asked == 0 && strcmp(name, "c") == 0, "asked once, for the condition");
    asked = manager;
    label = of;
    seen = condition.value;
}

/* A wait until a time: `answer` is the reply, and `posted` what others add to the value meanwhile.
 */
static seL4_Word answer;
static int posted;

seL4_MessageInfo_t seL4_Call(seL4_CPtr manager, seL4_MessageInfo_t info)
{
    need(seL4_MessageInfo_get_length(info) == 2 && camkes_timer_message_time(0) == 5000000000,
         "the time");
    need(seL4_MessageInfo_get_extraCaps(info) == 0 && seL4_MessageInfo_get_capsUnwrapped(info) == 0,
         "capabilities");
    need(seL4_MessageInfo_get_label(info) == CAMKES_WAIT_UNTIL && manager == 11, "a wait");
    seen = condition.value;
    condition.value += posted;
    return seL4_MessageInfo_new(answer, 0, 0, 0);
}

void camkes_manager_failed(const char *name)
{
    need(fails && strcmp(name, "c") == 0, "the manager has not refused");
    longjmp(failed, 1);
}

void camkes_fail(const char *format, ...)
{
    need(fails && format != NULL, "a failure");
    longjmp(failed, 1);
}

#if CAMKES_MCS
void camkes_return_time(const struct camkes_thread *self, enum camkes_return when)
{
    need(self == camkes_self() && when == CAMKES_RETURN_WAIT && asked == 0, "what goes back");
    returned++;
}
#endif

static void begin(struct camkes_thread *self, int value)
{
    fails = false;
    returned = 0;
    seen = NOT_ASKED;
    seL4_SetUserData((seL4_Word)self);
    condition.value = value;
    asked = label = 0;
}

static void check(const char *what, int value, seL4_CPtr manager, seL4_Word wanted)
{
    need(condition.value == value && asked == manager && label == wanted, what);
}

static void waits(void)
{
    begin(&first, 1);
    need(camkes_condition_wait(&condition) == 0, "a signal is there");
    check("a signal is there", 0, 0, 0);
    begin(&first, 0);
    need(camkes_condition_wait(&condition) == 0, "none is there");
    check("none is there", -1, 11, CAMKES_WAIT);
    begin(&second, -1);
    (void)camkes_condition_wait(&condition);
    check("others wait, too", -2, 12, CAMKES_WAIT);
    cpi.pooled = true;
    begin(&second, 0);
    (void)camkes_condition_wait(&condition);
    check("a thread of a pool says for whom", -1, 12, CAMKES_WAIT | 2 << 12);
    cpi.pooled = false;
    begin(&stranger, 0);
    fails = true;
    if (setjmp(failed) == 0) {
        (void)camkes_condition_wait(&condition);
        need(false, "a thread of another instance");
    }
}

static void tries(void)
{
    begin(&first, 2);
    need(camkes_condition_trywait(&condition) == 0, "a signal is there");
    check("it is taken", 1, 0, 0);
    begin(&first, 0);
    need(camkes_condition_trywait(&condition) == -1, "none is there");
    check("nothing changes", 0, 0, 0);
    begin(&first, 1);
    taken = &condition.value;
    need(camkes_condition_trywait(&condition) == -1, "another thread was faster");
    check("nothing is left", 0, 0, 0);
}

static void signals(void)
{
    begin(&first, 0);
    need(camkes_condition_post(&condition, 1) == 0, "nobody waits");
    check("nobody waits", 1, 0, 0);
    need(camkes_condition_post(&condition, 1) == 0, "a binary semaphore that is free");
    check("a binary semaphore that is free", 1, 0, 0);
    begin(&second, -1);
    need(camkes_condition_post(&condition, INT_MAX) == 0, "a waiter");
    check("a waiter", 0, 12, CAMKES_POST);
    begin(&first, INT_MAX);
    need(camkes_condition_post(&condition, INT_MAX) == -1, "a count that would overflow");
    check("a count that would overflow", INT_MAX, 0, 0);
    begin(&first, 1);
    taken = &condition.value;
    (void)camkes_condition_post(&condition, INT_MAX);
    check("it was taken meanwhile", 1, 0, 0);
}

static void until(void)
{
    const uint64_t time = 5000000000;
    begin(&first, 1);
    need(camkes_condition_wait_until(&condition, time, 1) == 0, "a signal is there");
    check("a signal is there", 0, 0, 0);
    need(seen == NOT_ASKED, "a signal is there");
    begin(&first, 0);
    posted = 1;
    answer = CAMKES_MESSAGE_GOOD;
    need(camkes_condition_wait_until(&condition, time, 1) == 0, "a signal");
    check("a signal", 0, 0, 0);
    begin(&first, -1);
    posted = 0;
    answer = CAMKES_TIME_OVER;
    need(camkes_condition_wait_until(&condition, time, 1) == -1, "no signal");
    need(seen == -2, "it was counted");
    check("it is not counted any more", -1, 0, 0);
    begin(&first, 0);
    posted = 1;
    need(camkes_condition_wait_until(&condition, time, 1) == -1, "a signal after its time");
    check("it is passed on", 1, 11, CAMKES_SIGNAL_TAKEN);
    begin(&first, 0);
    posted = 2;
    need(camkes_condition_wait_until(&condition, time, 1) == -1, "two signals after its time");
    check("a binary semaphore keeps one", 1, 11, CAMKES_SIGNAL_TAKEN);
    begin(&first, 0);
    posted = 0;
    taken = &condition.value;
    later = 1; /* those before it counts itself out */
    need(camkes_condition_wait_until(&condition, time, 1) == -1, "a signal just then");
    check("it is passed on, too", 1, 11, CAMKES_SIGNAL_TAKEN);
    begin(&first, 0);
    answer = CAMKES_MESSAGE_GOOD;
    need(camkes_monitor_wait_until(&condition, time) == 0, "a signal in a monitor");
    need(seen == 1 && condition.value == 0, "no thread waits any more");
    posted = 1;
    answer = CAMKES_TIME_OVER;
    begin(&first, 0);
    need(camkes_monitor_wait_until(&condition, time) == -1, "no signal in a monitor");
    need(seen == 1 && condition.value == 1, "who has the lock sees that a thread waits");
    answer = CAMKES_MESSAGE_OPERATION;
    begin(&first, 0);
    fails = true;
    if (setjmp(failed) == 0) {
        (void)camkes_condition_wait_until(&condition, time, 1);
        need(false, "the manager refuses");
    }
}

static void monitors(void)
{
    begin(&first, 0);
    camkes_monitor_wait(&condition);
    check("after a wait", 0, 11, CAMKES_WAIT);
    need(seen == 1, "who has the lock sees that a thread waits");
    begin(&first, 0);
    camkes_monitor_signal(&condition, CAMKES_POST);
    check("nobody waits", 0, 0, 0);
    begin(&first, 1);
    camkes_monitor_signal(&condition, CAMKES_POST_ALL);
    check("one waits", 1, 11, CAMKES_POST_ALL);
    begin(&first, 2);
    camkes_monitor_signal(&condition, CAMKES_POST);
    check("threads wait", 2, 11, CAMKES_POST);
}

/* What a worker has of others goes back before it gives up the lock; nothing else has such. */
static void times(void)
{
#if CAMKES_MCS
    answer = CAMKES_MESSAGE_GOOD;
    posted = 0;
    for (seL4_CPtr has = 0; has < 2; has++) {
        first.donated = second.donated = 5 * has;
        begin(&second, 0);
        camkes_monitor_wait(&condition);
        need(returned == has, "the time of others, in a wait");
        begin(&first, 0);
        (void)camkes_monitor_wait_until(&condition, 5000000000);
        need(returned == 0, "a thread of no CPI");
        first.cpi = &cpi;
        begin(&first, 0);
        (void)camkes_monitor_wait_until(&condition, 5000000000);
        need(returned == has, "the time of others, in a wait until a time");
        first.cpi = NULL;
    }
#endif
}

int main(void)
{
    times();
    waits();
    tries();
    signals();
    until();
    monitors();
    printf("good\n");
    return 0;
}
