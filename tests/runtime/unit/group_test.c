/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * The manager of a group gets one message after the other. In the group are a task that helps,
 * which requests one CPI, and two contexts at another.
 */
#include <camkes/condition.h>
#include <camkes/error.h>
#include <camkes/label.h>
#include <camkes/timer_protocol_sel4.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TASK, LOW, HIGH, INNER, PARTIES };
enum { OUTSIDE, MEMBER, ITSELF, EQUAL, SLEEPERS };
/* in place of the label of a reply: none is sent now */
enum { SAVED = 1000 };
enum { OF_PARTY = 1, OF_CALLER = OF_PARTY + PARTIES, OF_SLEEPER = OF_CALLER + PARTIES };
enum { SLOT = 7 }; /* that the task has for the manager of the CPI it requests */

struct exchange {
    const char *what;
    seL4_Word badge, label,
        holder; /* the answer to who takes a lock, or has a nested request; the time in a message */
    unsigned reply, sent;         /* `sent`: slot of the reply to a waiter, 0: none */
    unsigned priorities[PARTIES]; /* that were set, afterwards */
};

static struct camkes_party parties[PARTIES];
static struct camkes_sleeper sleepers[SLEEPERS];
static struct camkes_lender conditions[2];
static const uint16_t helpers[] = {TASK};
static const struct camkes_way ways[] = {
    {LOW, HIGH, SLOT}, {TASK, LOW, SLOT + 1}, {TASK, INNER, SLOT}};
static struct camkes_group group;
static const struct exchange *next;
static unsigned sent, saved, priorities[PARTIES], given;
static uint64_t armed, fired; /* the timer: when it fires, and whether it has fired since */
static char traced[128];
static jmp_buf done;
static seL4_IPCBuffer buffer;

static void need(bool good, const char *what)
{
    if (!good) {
        printf("%s: %s\n", next->what, what);
        exit(1);
    }
}

seL4_IPCBuffer *seL4_GetIPCBuffer(void)
{
    return &buffer;
}

/* Checks what came of the last message, and hands out the next. */
static seL4_MessageInfo_t receive(unsigned reply, seL4_Word *badge)
{
    if (next->reply != 0 || next->badge != 0) {
        need(reply == next->reply, "another reply");
        need(sent == next->sent, "another reply to a waiter");
        for (unsigned i = 0; i < PARTIES; i++) {
            need(priorities[i] == next->priorities[i], parties[i].name);
        }
    }
    next++;
    sent = 0;
    if (next->what == NULL) {
        longjmp(done, 1);
    }
    *badge = next->badge;
    camkes_timer_set_message_time(0, next->holder);
    return seL4_MessageInfo_new(next->label, 0, 0, 0);
}

seL4_MessageInfo_t seL4_Recv(seL4_CPtr endpoint, seL4_Word *badge)
{
    (void)endpoint;
    return receive(SAVED, badge);
}

seL4_MessageInfo_t seL4_ReplyRecv(seL4_CPtr endpoint, seL4_MessageInfo_t reply, seL4_Word *badge)
{
    (void)endpoint;
    return receive((unsigned)seL4_MessageInfo_get_label(reply), badge);
}

void seL4_Send(seL4_CPtr slot, seL4_MessageInfo_t info)
{
    sent = (unsigned)slot + (unsigned)seL4_MessageInfo_get_label(info) * 1000;
}

seL4_MessageInfo_t camkes_refuse_order(const struct camkes_thread *self, seL4_Word badge,
                                       unsigned error)
{
    need(self->interface == &group && error != CAMKES_MESSAGE_GOOD && error < CAMKES_TIME_OVER,
         "a good message is refused");
    (void)badge;
    return seL4_MessageInfo_new(error, 0, 0, 0);
}

/* The managers of the members. */
seL4_MessageInfo_t seL4_Call(seL4_CPtr manager, seL4_MessageInfo_t info)
{
    const seL4_Word label = seL4_MessageInfo_get_label(info);
    unsigned i = 0;
    while (i < PARTIES && (parties[i].manager != manager || parties[i].index != seL4_GetMR(0))) {
        i++;
    }
    need(i < PARTIES && seL4_MessageInfo_get_length(info) == 1, "a message to no party");
    seL4_Word result = 0;
    switch (camkes_bits(label, 0, 4)) {
    case CAMKES_SET_PRIORITY:
        result = i == TASK && camkes_bits(label, 4, 8) > priorities[i] ? SLOT : 0;
        priorities[i] = (unsigned)camkes_bits(label, 4, 8);
        break;
    case CAMKES_TAKE_LOCK:
        result = next->holder;
        break;
    case CAMKES_FIND_NESTED:
        result = i == TASK ? next->holder : 0;
        break;
    case CAMKES_GIVE_LOCK:
        given = 10 * i + (unsigned)camkes_bits(label, 4, 8);
        break;
    default:
        return seL4_MessageInfo_new(CAMKES_MESSAGE_LABEL, 0, 0, 1); /* the reply to the party */
    }
    seL4_SetMR(0, result);
    seL4_SetMR(1, 99);
    return seL4_MessageInfo_new(CAMKES_MESSAGE_GOOD, 0, 0, 1);
}

seL4_Error camkes_platform_save_caller(const seL4_CPtr *slot)
{
    saved = (unsigned)*slot;
    return seL4_NoError;
}

uint64_t camkes_platform_now(void)
{
    return 100;
}

void camkes_platform_timer_arm(seL4_CPtr timer, uint64_t first, uint64_t period)
{
    need(timer == 9 && period == 0, "another timer");
    armed = first;
}

uint64_t camkes_platform_timer_expirations(seL4_CPtr timer)
{
    (void)timer;
    return fired;
}

void camkes_manager_failed(const char *name)
{
    need(false, name);
    abort();
}

void camkes_host_point(void)
{
}

void camkes_host_annotate(uint16_t kind, uint16_t other, unsigned n, const uint64_t *args)
{
    snprintf(traced, sizeof traced, "%s of thread %u: %d %d",
             kind == CAMKES_TRACE_COND_WAIT     ? "wait"
             : kind == CAMKES_TRACE_COND_EXPIRE ? "end"
                                                : "wake",
             other, (int)args[0], (int)args[1]);
    if (n > 2) {
        snprintf(traced + strlen(traced), 16, " %d", (int)args[2]);
    }
}

void camkes_fail(const char *format, ...)
{
    need(false, format);
    abort();
}

static void begin(void)
{
    static const struct camkes_party PARTY[PARTIES] = {
        [TASK] = {.name = "task", .lock = CAMKES_NO_PARTY, .base = 10, .manager = 20},
        [LOW] = {.name = "low", .context = 1, .lock = LOW, .base = 20, .manager = 30, .reply = 101},
        [HIGH] = {.name = "high", .context = 2, .index = 1, .lock = LOW, .base = 30, .manager = 30},
        [INNER] = {.name = "inner", .lock = INNER, .base = 10, .manager = 40, .reply = 103},
    };
    static const struct camkes_sleeper SLEEPER[SLEEPERS] = {
        [OUTSIDE] = {.thread = 5, .origin = 3, .party = CAMKES_NO_PARTY, .priority = 25},
        [MEMBER] = {.thread = 6, .party = LOW, .parties = 2},
        [ITSELF] = {.condition = 1, .party = CAMKES_NO_PARTY, .priority = 40},
        [EQUAL] = {.thread = 8, .origin = 4, .party = CAMKES_NO_PARTY, .priority = 25},
    };
    memcpy(parties, PARTY, sizeof parties);
    memcpy(sleepers, SLEEPER, sizeof sleepers);
    parties[HIGH].reply = 102;
    for (unsigned i = 0; i < PARTIES; i++) {
        priorities[i] = parties[i].effective = parties[i].base;
    }
    for (unsigned i = 0; i < SLEEPERS; i++) {
        sleepers[i].reply = 201 + i;
        sleepers[i].parties = i == MEMBER ? 2 : 1;
    }
    conditions[0] = (struct camkes_lender){.name = "c", .id = 50, .helpers = 1, .helper = helpers};
    conditions[1] = (struct camkes_lender){.name = "d", .id = 51, .helpers = 1, .helper = helpers};
    group = (struct camkes_group){.manager = 1,
                                  .party = parties,
                                  .way = ways,
                                  .condition = conditions,
                                  .sleeper = sleepers,
                                  .parties = PARTIES,
                                  .ways = sizeof ways / sizeof *ways,
                                  .conditions = 2,
                                  .sleepers = SLEEPERS,
                                  .arrivals = UINT32_MAX};
}

static void run(const struct exchange *exchanges)
{
    struct camkes_thread self = {.interface = &group};
    next = exchanges;
    if (setjmp(done) == 0) {
        camkes_manage_group(&self);
    }
    next = exchanges;
}

#define GOOD CAMKES_MESSAGE_GOOD
#define WRONG CAMKES_MESSAGE_OPERATION
#define BASE {10, 20, 30, 10}
#define PARTY(which, operation) OF_PARTY + which, CAMKES_##operation
#define CALLER(which, operation) OF_CALLER + which, CAMKES_##operation
#define SLEEPER(which, operation) OF_SLEEPER + which, CAMKES_##operation
#define AS(index) | (index) << 12

static const struct exchange LOCK[] = {
    {.what = "the start"},
    {"a badge of nobody", OF_SLEEPER + SLEEPERS, CAMKES_SETTLE, 0, CAMKES_MESSAGE_BADGE, 0, BASE},
    {"no badge", 0, CAMKES_SETTLE, 0, CAMKES_MESSAGE_BADGE, 0, BASE},
    {"a task asks for a lock", PARTY(TASK, ACQUIRE_LOCK), 0, WRONG, 0, BASE},
    {"a task begins a request", PARTY(TASK, BEGIN_REQUEST), 0, WRONG, 0, BASE},
    {"no operation of a party", PARTY(LOW, WAIT), 0, WRONG, 0, BASE},
    {"no operation of a caller", CALLER(LOW, SETTLE), 0, WRONG, 0, BASE},
    {"what was passed on is set", PARTY(LOW, SETTLE), 0, GOOD, 0, BASE},
    {"the beginning of a request", PARTY(LOW, BEGIN_REQUEST), 0, CAMKES_MESSAGE_LABEL, 0, BASE},
    {"its end", PARTY(LOW, END_REQUEST), 0, CAMKES_MESSAGE_LABEL, 0, BASE},
    {"the lock is free", PARTY(LOW, ACQUIRE_LOCK), 0, GOOD, 0, BASE},
    {"nobody waits", PARTY(LOW, RELEASE_LOCK), 0, WRONG, 0, BASE},
    {"a waiter", PARTY(HIGH, ACQUIRE_LOCK), 1, SAVED, 0, {10, 30, 30, 10}},
    {"it asks again", PARTY(HIGH, ACQUIRE_LOCK), 1, WRONG, 0, {10, 30, 30, 10}},
    {"it ends its request", PARTY(HIGH, END_REQUEST), 0, WRONG, 0, {10, 30, 30, 10}},
    {"it is cleared", CALLER(HIGH, CLEAR), 0, WRONG, 0, {10, 30, 30, 10}},
    {"its aborted one has ended", CALLER(HIGH, CLEAR) AS(1), 0, GOOD, 0, {10, 30, 30, 10}},
    {"it releases", PARTY(HIGH, RELEASE_LOCK), 0, WRONG, 0, {10, 30, 30, 10}},
    {"the holder releases", PARTY(LOW, RELEASE_LOCK), 0, GOOD, 102, BASE},
    {"again", PARTY(LOW, RELEASE_LOCK), 0, WRONG, 0, BASE},
    {.what = NULL},
};

static const struct exchange FIRST[] = {
    {.what = "a lock that the first party waits for"},
    {"it is taken", PARTY(LOW, ACQUIRE_LOCK), 0, GOOD, 0, {40, 20, 30, 10}},
    {"a waiter", PARTY(TASK, ACQUIRE_LOCK), 1, SAVED, 0, {40, 40, 30, 10}},
    {"the holder releases", PARTY(LOW, RELEASE_LOCK), 0, GOOD, 100, {40, 20, 30, 10}},
    {.what = NULL},
};

static const struct exchange WAIT[] = {
    {.what = "the start"},
    {"no operation of a sleeper", SLEEPER(OUTSIDE, SETTLE), 0, WRONG, 0, BASE},
    {"it lends, also to the CPI that is requested",
     SLEEPER(OUTSIDE, WAIT),
     0,
     SAVED,
     0,
     {25, 20, 30, 25}},
    {"it waits already", SLEEPER(OUTSIDE, WAIT), 0, WRONG, 0, {25, 20, 30, 25}},
    {"no member", SLEEPER(MEMBER, WAIT) AS(2), 0, WRONG, 0, {25, 20, 30, 25}},
    {"the second member", SLEEPER(MEMBER, WAIT) AS(1), 0, SAVED, 0, {30, 20, 30, 30}},
    {"the helper itself", SLEEPER(ITSELF, WAIT), 0, SAVED, 0, {30, 20, 30, 30}},
    {"a signal for the most urgent", SLEEPER(EQUAL, POST), 0, GOOD, 202, {25, 20, 30, 25}},
    {"an equal, which comes later", SLEEPER(EQUAL, WAIT), 0, SAVED, 0, {25, 20, 30, 25}},
    {"the request has ended", CALLER(INNER, CLEAR), 0, GOOD, 0, {25, 20, 30, 10}},
    {"the next one", CALLER(INNER, UPDATE), 0, GOOD, 0, {25, 20, 30, 25}},
    {"an aborted one ends late", CALLER(INNER, CLEAR) AS(1), SLOT, GOOD, 0, {25, 20, 30, 25}},
    {"one that was the last", CALLER(INNER, CLEAR) AS(1), 0, GOOD, 0, {25, 20, 30, 10}},
    {"the next one", CALLER(INNER, UPDATE), 0, GOOD, 0, {25, 20, 30, 25}},
    {"the first of the equals", SLEEPER(MEMBER, POST), 0, GOOD, 201, {25, 20, 30, 25}},
    {"the last", SLEEPER(MEMBER, POST), 0, GOOD, 204, BASE},
    {"a signal that nobody waits for", SLEEPER(MEMBER, POST), 0, GOOD, 0, BASE},
    {"it is taken", SLEEPER(OUTSIDE, WAIT), 0, GOOD, 0, BASE},
    {"a wait", SLEEPER(OUTSIDE, WAIT), 0, SAVED, 0, {25, 20, 30, 25}},
    {"of the other condition", SLEEPER(ITSELF, POST), 0, GOOD, 203, {25, 20, 30, 25}},
    {.what = NULL},
};

/* A wait until a time. OVER: the reply says that it is over. */
#define OVER (CAMKES_TIME_OVER * 1000)
#define TIMER OF_SLEEPER + SLEEPERS, 0
static const struct exchange NEVER[] = {
    {.what = "a group without a timer"},
    {"a wait", SLEEPER(OUTSIDE, WAIT_UNTIL), 300, WRONG, 0, BASE},
    {"a badge of nobody", TIMER, 0, CAMKES_MESSAGE_BADGE, 0, BASE},
    {.what = NULL},
};
static const struct exchange UNTIL[] = {
    {.what = "waits"},
    {"a time that is over", SLEEPER(OUTSIDE, WAIT_UNTIL), 100, CAMKES_TIME_OVER, 0, BASE},
    {"no time", SLEEPER(OUTSIDE, WAIT_UNTIL), 0, CAMKES_TIME_OVER, 0, BASE},
    {"a wait", SLEEPER(OUTSIDE, WAIT_UNTIL), 300, SAVED, 0, {25, 20, 30, 25}},
    {"a later one", SLEEPER(EQUAL, WAIT_UNTIL), 400, SAVED, 0, {25, 20, 30, 25}},
    {"an earlier one", SLEEPER(ITSELF, WAIT_UNTIL), 200, SAVED, 0, {25, 20, 30, 25}},
    {.what = NULL},
};
static const struct exchange SIGNALLED[] = {
    {.what = "a signal"},
    {"for the earliest", SLEEPER(ITSELF, POST), 0, GOOD, 203, {25, 20, 30, 25}},
    {"the timer fired before that", TIMER, 0, GOOD, 0, {25, 20, 30, 25}},
    {.what = NULL},
};
static const struct exchange FIRED[] = {
    {.what = "the timer"},
    {"it fires", TIMER, 0, GOOD, OVER + 201, {25, 20, 30, 25}},
    {.what = NULL},
};
static const struct exchange KEPT[] = {
    {.what = "signals"},
    {"for the last", SLEEPER(MEMBER, POST), 0, GOOD, 204, BASE},
    {"for nobody", SLEEPER(MEMBER, POST), 0, GOOD, 0, BASE},
    {"it is taken, whatever the time", SLEEPER(OUTSIDE, WAIT_UNTIL), 50, GOOD, 0, BASE},
    {.what = NULL},
};

static const struct exchange TAKEN[] = {
    {.what = "a signal that a thread has taken after its time"},
    {"it says so", SLEEPER(OUTSIDE, SIGNAL_TAKEN), 0, GOOD, 0, BASE},
    {"another one waits", SLEEPER(EQUAL, WAIT), 0, SAVED, 0, {25, 20, 30, 25}},
    {"the signal", SLEEPER(MEMBER, POST), 0, GOOD, 0, {25, 20, 30, 25}},
    {"the next", SLEEPER(MEMBER, POST), 0, GOOD, 204, BASE},
    {"a signal before", SLEEPER(MEMBER, POST), 0, GOOD, 0, BASE},
    {"it is taken", SLEEPER(OUTSIDE, SIGNAL_TAKEN), 0, GOOD, 0, BASE},
    {"it is not there any more", SLEEPER(OUTSIDE, WAIT), 0, SAVED, 0, {25, 20, 30, 25}},
    {.what = NULL},
};

/* Requests of a task in a band, which is not in the group. */
#define HAS(priority) | (priority) << 4
static const struct exchange BAND[] = {
    {.what = "requests of a task in a band"},
    {"above the band", CALLER(LOW, UPDATE) HAS(36), 0, CAMKES_MESSAGE_PRIORITY, 0, BASE},
    {"one has the priority of its job", CALLER(LOW, UPDATE) HAS(33), 0, GOOD, 0, {10, 33, 30, 10}},
    {"it does not fall", CALLER(LOW, UPDATE) HAS(25), 0, GOOD, 0, {10, 33, 30, 10}},
    {"it rises", CALLER(LOW, UPDATE) HAS(35), 0, GOOD, 0, {10, 35, 30, 10}},
    {"it has ended", CALLER(LOW, CLEAR), 0, GOOD, 0, BASE},
    {"one that a party makes", CALLER(LOW, UPDATE) HAS(60), SLOT + 1, GOOD, 0, BASE},
    {"it has ended", CALLER(LOW, CLEAR), 0, GOOD, 0, BASE},
    {"one of another task", CALLER(HIGH, UPDATE) HAS(40), 0, GOOD, 0, BASE},
    {.what = NULL},
};

static void until(void)
{
    begin();
    run(NEVER);
    begin();
    group.timer = 9;
    run(UNTIL);
    need(armed == 200, "the first time");
    run(SIGNALLED);
    need(armed == 300, "the next time");
    fired = 1;
    run(FIRED);
    need(armed == 400, "the last time");
    need(strcmp(traced, "end of thread 5: 50 3") == 0, traced);
    run(KEPT);
    need(armed == 0, "the timer is stopped");
    run(TAKEN);
}

int main(void)
{
    until();
    begin();
    run(LOCK);
    need(saved == 102 && given == 10 * HIGH, "the lock goes to the only waiter");
    begin();
    parties[TASK].lock = LOW;
    parties[TASK].reply = 100;
    parties[TASK].base = parties[TASK].effective = 40;
    priorities[TASK] = 40;
    run(FIRST);
    begin();
    run(WAIT);
    need(saved == 201, "the reply of the last who waits");
    need(strcmp(traced, "wake of thread 0: 51 0") == 0, traced);
    static const struct exchange LAST[] = {
        {.what = "the start"},
        {"a member", SLEEPER(MEMBER, WAIT), 0, SAVED, 0, {20, 20, 30, 20}},
        {.what = NULL},
    };
    begin();
    run(LAST);
    need(strcmp(traced, "wait of thread 6: 50 1 20") == 0, traced);
    begin();
    parties[LOW].highest = 35;
    run(BAND);
    need(parties[LOW].request == 0, "a request that has ended has a priority");
    printf("good\n");
    return 0;
}
