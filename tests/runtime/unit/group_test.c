/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: RT-27 */
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

enum { TASK, LOW, HIGH, INNER, MEMBERS };
enum { OUTSIDE, INSIDE, ITSELF, EQUAL, WAITERS };
/* in place of the label of a reply: none is sent now */
enum { SAVED = 1000 };
enum { OF_MEMBER = 1, OF_CALLER = OF_MEMBER + MEMBERS, OF_WAITER = OF_CALLER + MEMBERS };
enum { SLOT = 7 }; /* that the task has for the manager of the CPI it requests */

struct exchange {
    const char *what;
    seL4_Word badge, label,
        holder; /* the answer to who takes a lock, or has a nested request; the time in a message */
    unsigned reply, sent;         /* `sent`: slot of the reply to a waiter, 0: none */
    unsigned priorities[MEMBERS]; /* that were set, afterwards */
};

static struct camkes_member members[MEMBERS];
static struct camkes_waiter waiters[WAITERS];
static struct camkes_lender conditions[2];
static const uint16_t helpers[] = {TASK};
static const struct camkes_path paths[] = {
    {LOW, HIGH, SLOT}, {TASK, LOW, SLOT + 1}, {TASK, INNER, SLOT}};
static struct camkes_group group;
static const struct exchange *next;
static unsigned sent, saved, priorities[MEMBERS], given;
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
        for (unsigned i = 0; i < MEMBERS; i++) {
            need(priorities[i] == next->priorities[i], members[i].name);
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
    while (i < MEMBERS && (members[i].manager != manager || members[i].index != seL4_GetMR(0))) {
        i++;
    }
    need(i < MEMBERS && seL4_MessageInfo_get_length(info) == 1, "a message to no member");
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
        return seL4_MessageInfo_new(CAMKES_MESSAGE_LABEL, 0, 0, 1); /* the reply to the member */
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
    static const struct camkes_member MEMBER[MEMBERS] = {
        [TASK] = {.name = "task", .lock = CAMKES_NO_MEMBER, .base = 10, .manager = 20},
        [LOW] = {.name = "low", .context = 1, .lock = LOW, .base = 20, .manager = 30, .reply = 101},
        [HIGH] = {.name = "high", .context = 2, .index = 1, .lock = LOW, .base = 30, .manager = 30},
        [INNER] = {.name = "inner", .lock = INNER, .base = 10, .manager = 40, .reply = 103},
    };
    static const struct camkes_waiter WAITER[WAITERS] = {
        [OUTSIDE] = {.thread = 5, .origin = 3, .member = CAMKES_NO_MEMBER, .priority = 25},
        [INSIDE] = {.thread = 6, .member = LOW, .members = 2},
        [ITSELF] = {.condition = 1, .member = CAMKES_NO_MEMBER, .priority = 40},
        [EQUAL] = {.thread = 8, .origin = 4, .member = CAMKES_NO_MEMBER, .priority = 25},
    };
    memcpy(members, MEMBER, sizeof members);
    memcpy(waiters, WAITER, sizeof waiters);
    members[HIGH].reply = 102;
    for (unsigned i = 0; i < MEMBERS; i++) {
        priorities[i] = members[i].effective = members[i].base;
    }
    for (unsigned i = 0; i < WAITERS; i++) {
        waiters[i].reply = 201 + i;
        waiters[i].members = i == INSIDE ? 2 : 1;
    }
    conditions[0] = (struct camkes_lender){.name = "c", .id = 50, .helpers = 1, .helper = helpers};
    conditions[1] = (struct camkes_lender){.name = "d", .id = 51, .helpers = 1, .helper = helpers};
    group = (struct camkes_group){.manager = 1,
                                  .member = members,
                                  .path = paths,
                                  .condition = conditions,
                                  .waiter = waiters,
                                  .members = MEMBERS,
                                  .paths = sizeof paths / sizeof *paths,
                                  .conditions = 2,
                                  .waiters = WAITERS,
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
#define MEMBER(which, operation) OF_MEMBER + which, CAMKES_##operation
#define CALLER(which, operation) OF_CALLER + which, CAMKES_##operation
#define WAITER(which, operation) OF_WAITER + which, CAMKES_##operation
#define AS(index) | (index) << 12

static const struct exchange LOCK[] = {
    {.what = "the start"},
    {"a badge of nobody", OF_WAITER + WAITERS, CAMKES_SETTLE, 0, CAMKES_MESSAGE_BADGE, 0, BASE},
    {"no badge", 0, CAMKES_SETTLE, 0, CAMKES_MESSAGE_BADGE, 0, BASE},
    {"a task asks for a lock", MEMBER(TASK, ACQUIRE_LOCK), 0, WRONG, 0, BASE},
    {"a task begins a request", MEMBER(TASK, BEGIN_REQUEST), 0, WRONG, 0, BASE},
    {"no operation of a member", MEMBER(LOW, WAIT), 0, WRONG, 0, BASE},
    {"no operation of a caller", CALLER(LOW, SETTLE), 0, WRONG, 0, BASE},
    {"what was passed on is set", MEMBER(LOW, SETTLE), 0, GOOD, 0, BASE},
    {"the beginning of a request", MEMBER(LOW, BEGIN_REQUEST), 0, CAMKES_MESSAGE_LABEL, 0, BASE},
    {"its end", MEMBER(LOW, END_REQUEST), 0, CAMKES_MESSAGE_LABEL, 0, BASE},
    {"the lock is free", MEMBER(LOW, ACQUIRE_LOCK), 0, GOOD, 0, BASE},
    {"nobody waits", MEMBER(LOW, RELEASE_LOCK), 0, WRONG, 0, BASE},
    {"a waiter", MEMBER(HIGH, ACQUIRE_LOCK), 1, SAVED, 0, {10, 30, 30, 10}},
    {"it asks again", MEMBER(HIGH, ACQUIRE_LOCK), 1, WRONG, 0, {10, 30, 30, 10}},
    {"it ends its request", MEMBER(HIGH, END_REQUEST), 0, WRONG, 0, {10, 30, 30, 10}},
    {"it is cleared", CALLER(HIGH, CLEAR), 0, WRONG, 0, {10, 30, 30, 10}},
    {"its aborted one has ended", CALLER(HIGH, CLEAR) AS(1), 0, GOOD, 0, {10, 30, 30, 10}},
    {"it releases", MEMBER(HIGH, RELEASE_LOCK), 0, WRONG, 0, {10, 30, 30, 10}},
    {"the holder releases", MEMBER(LOW, RELEASE_LOCK), 0, GOOD, 102, BASE},
    {"again", MEMBER(LOW, RELEASE_LOCK), 0, WRONG, 0, BASE},
    {.what = NULL},
};

static const struct exchange FIRST[] = {
    {.what = "a lock that the first member waits for"},
    {"it is taken", MEMBER(LOW, ACQUIRE_LOCK), 0, GOOD, 0, {40, 20, 30, 10}},
    {"a waiter", MEMBER(TASK, ACQUIRE_LOCK), 1, SAVED, 0, {40, 40, 30, 10}},
    {"the holder releases", MEMBER(LOW, RELEASE_LOCK), 0, GOOD, 100, {40, 20, 30, 10}},
    {.what = NULL},
};

static const struct exchange WAIT[] = {
    {.what = "the start"},
    {"no operation of a waiter", WAITER(OUTSIDE, SETTLE), 0, WRONG, 0, BASE},
    {"it lends, also to the CPI that is requested",
     WAITER(OUTSIDE, WAIT),
     0,
     SAVED,
     0,
     {25, 20, 30, 25}},
    {"it waits already", WAITER(OUTSIDE, WAIT), 0, WRONG, 0, {25, 20, 30, 25}},
    {"no member", WAITER(INSIDE, WAIT) AS(2), 0, WRONG, 0, {25, 20, 30, 25}},
    {"the second member", WAITER(INSIDE, WAIT) AS(1), 0, SAVED, 0, {30, 20, 30, 30}},
    {"the helper itself", WAITER(ITSELF, WAIT), 0, SAVED, 0, {30, 20, 30, 30}},
    {"a signal for the most urgent", WAITER(EQUAL, POST), 0, GOOD, 202, {25, 20, 30, 25}},
    {"an equal, which comes later", WAITER(EQUAL, WAIT), 0, SAVED, 0, {25, 20, 30, 25}},
    {"the request has ended", CALLER(INNER, CLEAR), 0, GOOD, 0, {25, 20, 30, 10}},
    {"the next one", CALLER(INNER, UPDATE), 0, GOOD, 0, {25, 20, 30, 25}},
    {"an aborted one ends late", CALLER(INNER, CLEAR) AS(1), SLOT, GOOD, 0, {25, 20, 30, 25}},
    {"one that was the last", CALLER(INNER, CLEAR) AS(1), 0, GOOD, 0, {25, 20, 30, 10}},
    {"the next one", CALLER(INNER, UPDATE), 0, GOOD, 0, {25, 20, 30, 25}},
    {"the first of the equals", WAITER(INSIDE, POST), 0, GOOD, 201, {25, 20, 30, 25}},
    {"the last", WAITER(INSIDE, POST), 0, GOOD, 204, BASE},
    {"a signal that nobody waits for", WAITER(INSIDE, POST), 0, GOOD, 0, BASE},
    {"it is taken", WAITER(OUTSIDE, WAIT), 0, GOOD, 0, BASE},
    {"a wait", WAITER(OUTSIDE, WAIT), 0, SAVED, 0, {25, 20, 30, 25}},
    {"of the other condition", WAITER(ITSELF, POST), 0, GOOD, 203, {25, 20, 30, 25}},
    {.what = NULL},
};

/* A wait until a time. OVER: the reply says that it is over. */
#define OVER (CAMKES_TIME_OVER * 1000)
#define TIMER OF_WAITER + WAITERS, 0
static const struct exchange NEVER[] = {
    {.what = "a group without a timer"},
    {"a wait", WAITER(OUTSIDE, WAIT_UNTIL), 300, WRONG, 0, BASE},
    {"a badge of nobody", TIMER, 0, CAMKES_MESSAGE_BADGE, 0, BASE},
    {.what = NULL},
};
static const struct exchange UNTIL[] = {
    {.what = "waits"},
    {"a time that is over", WAITER(OUTSIDE, WAIT_UNTIL), 100, CAMKES_TIME_OVER, 0, BASE},
    {"no time", WAITER(OUTSIDE, WAIT_UNTIL), 0, CAMKES_TIME_OVER, 0, BASE},
    {"a wait", WAITER(OUTSIDE, WAIT_UNTIL), 300, SAVED, 0, {25, 20, 30, 25}},
    {"a later one", WAITER(EQUAL, WAIT_UNTIL), 400, SAVED, 0, {25, 20, 30, 25}},
    {"an earlier one", WAITER(ITSELF, WAIT_UNTIL), 200, SAVED, 0, {25, 20, 30, 25}},
    {.what = NULL},
};
static const struct exchange SIGNALLED[] = {
    {.what = "a signal"},
    {"for the earliest", WAITER(ITSELF, POST), 0, GOOD, 203, {25, 20, 30, 25}},
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
    {"for the last", WAITER(INSIDE, POST), 0, GOOD, 204, BASE},
    {"for nobody", WAITER(INSIDE, POST), 0, GOOD, 0, BASE},
    {"it is taken, whatever the time", WAITER(OUTSIDE, WAIT_UNTIL), 50, GOOD, 0, BASE},
    {.what = NULL},
};

static const struct exchange TAKEN[] = {
    {.what = "a signal that a thread has taken after its time"},
    {"it says so", WAITER(OUTSIDE, SIGNAL_TAKEN), 0, GOOD, 0, BASE},
    {"another one waits", WAITER(EQUAL, WAIT), 0, SAVED, 0, {25, 20, 30, 25}},
    {"the signal", WAITER(INSIDE, POST), 0, GOOD, 0, {25, 20, 30, 25}},
    {"the next", WAITER(INSIDE, POST), 0, GOOD, 204, BASE},
    {"a signal before", WAITER(INSIDE, POST), 0, GOOD, 0, BASE},
    {"it is taken", WAITER(OUTSIDE, SIGNAL_TAKEN), 0, GOOD, 0, BASE},
    {"it is not there any more", WAITER(OUTSIDE, WAIT), 0, SAVED, 0, {25, 20, 30, 25}},
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
    {"one that a member makes", CALLER(LOW, UPDATE) HAS(60), SLOT + 1, GOOD, 0, BASE},
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
    members[TASK].lock = LOW;
    members[TASK].reply = 100;
    members[TASK].base = members[TASK].effective = 40;
    priorities[TASK] = 40;
    run(FIRST);
    begin();
    run(WAIT);
    need(saved == 201, "the reply of the last who waits");
    need(strcmp(traced, "wake of thread 0: 51 0") == 0, traced);
    static const struct exchange LAST[] = {
        {.what = "the start"},
        {"a member", WAITER(INSIDE, WAIT), 0, SAVED, 0, {20, 20, 30, 20}},
        {.what = NULL},
    };
    begin();
    run(LAST);
    need(strcmp(traced, "wait of thread 6: 50 1 20") == 0, traced);
    begin();
    members[LOW].highest = 35;
    run(BAND);
    need(members[LOW].request == 0, "a request that has ended has a priority");
    printf("good\n");
    return 0;
}
