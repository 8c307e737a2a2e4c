/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: RT-7 */
/* A manager of an inherited CPI with two workers, of a pool, and of members of a group gets one
 * message after the other. */
#include <camkes/cpi.h>
#include <camkes/error.h>
#include <camkes/label.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

enum { LOW, MID, HIGH, CONTEXTS, THREADS = 2 };
/* in place of the label of a reply: none is sent now */
enum { SAVED = 1000 };
/* the manager of the request that a context is in */
enum { NESTED = 77 };
/* badges: workers, then callers */
enum { W_LOW = 1, W_MID, W_HIGH, C_LOW, C_MID, C_HIGH, UNKNOWN };

struct exchange {
    const char *what;
    seL4_Word badge, label;
    unsigned length, reply, sent; /* `sent`: slot of the reply to a waiter, 0: none; for a member
                                   * of a group, whose context is that of the badge, the result */
    unsigned priority;            /* of the thread of the low context afterwards */
};

static struct camkes_thread threads[CONTEXTS] = {{.tcb = 10}, {.tcb = 11}, {.tcb = 12}};
static struct camkes_thread *const pool[THREADS] = {&threads[0], &threads[1]};
static struct camkes_context contexts[CONTEXTS];
static const struct camkes_caller callers[CONTEXTS] = {{.context = LOW, .base = 10, .bound = 20},
                                                       {.context = MID, .base = 20, .bound = 30},
                                                       {.context = HIGH, .base = 30, .bound = 40}};
static struct camkes_cpi cpi;
static const struct exchange *next;
static unsigned saved, sent, priorities[3];
static jmp_buf done;
static seL4_IPCBuffer buffer;
static bool member;

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
/* What a thread of the pool does before it asks to begin a request. */
static void enter(void)
{
    const uint16_t thread = camkes_label_detail(next->label);
    struct camkes_context *const context = &contexts[(next->badge - 1) % CONTEXTS];
    if (camkes_bits(next->label, 0, 4) == CAMKES_BEGIN_REQUEST && thread < THREADS &&
        atomic_load(&context->worker) == NULL) {
        pool[thread]->context = context;
    }
}

static seL4_MessageInfo_t receive(unsigned reply, seL4_Word *badge)
{
    if (next->badge != 0) {
        need(reply == next->reply, "another reply");
        need((member ? buffer.msg[0] : sent) == next->sent, "another reply to a waiter, or result");
        need(priorities[LOW] == next->priority, "another priority");
    }
    next++;
    sent = 0;
    if (next->what == NULL) {
        longjmp(done, 1);
    }
    *badge = next->badge;
    buffer.msg[0] = next->badge - 1;
    enter();
    return seL4_MessageInfo_new(next->label, 0, 0, next->length);
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
    (void)info;
    sent = (unsigned)slot;
}

void seL4_Wait(seL4_CPtr slot, seL4_Word *badge)
{
    (void)slot, (void)badge;
    need(false, "a manager of three contexts waits at its endpoint alone");
}

seL4_Error seL4_TCB_SetPriority(seL4_TCB tcb, seL4_CPtr authority, seL4_Word priority)
{
    (void)authority;
    priorities[tcb - 10] = (unsigned)priority;
    return seL4_NoError;
}

seL4_Error camkes_platform_save_caller(const seL4_CPtr *slot)
{
    (void)slot;
    saved++;
    return seL4_NoError;
}

seL4_MessageInfo_t camkes_refuse(const struct camkes_place *place, seL4_Word badge,
                                 seL4_Word sender, unsigned error)
{
    (void)place, (void)badge, (void)sender;
    return seL4_MessageInfo_new(error, 0, 0, 0);
}

void camkes_nested_push(struct camkes_context *context)
{
    (void)context;
}

void camkes_nested_lower(struct camkes_context *context)
{
    (void)context; /* of an MCS kernel */
    exit(3);
}

seL4_CPtr camkes_nested_found(struct camkes_context *context)
{
    (void)context;
    return NESTED;
}

void camkes_host_point(void)
{
}

void camkes_host_annotate(uint16_t kind, uint16_t other, unsigned n, const uint64_t *args)
{
    (void)kind, (void)other, (void)n, (void)args;
}

void camkes_fail(const char *format, ...)
{
    printf("%s: %s\n", next->what, format);
    exit(1);
}

static void run(const struct exchange *exchanges, bool pooled, unsigned caller_count)
{
    struct camkes_thread self = {.cpi = &cpi};
    for (unsigned i = 0; i < CONTEXTS; i++) {
        const uint8_t base = (uint8_t)(10 * (i + 1));
        contexts[i] = (struct camkes_context){.id = (uint16_t)i,
                                              .held = i + 1,
                                              .base = base,
                                              .request = base,
                                              .effective = base,
                                              .reply = 100 + i,
                                              .worker = pooled ? NULL : &threads[i]};
        threads[i].cpi = &cpi;
        threads[i].context = &contexts[i];
        priorities[i] = base;
    }
    cpi = (struct camkes_cpi){.name = "cpi",
                              .ceiling = 40,
                              .pooled = pooled,
                              .contexts = CONTEXTS,
                              .callers = caller_count,
                              .context = contexts,
                              .caller = callers,
                              .manager = 1,
                              .authority = 2,
                              .pool = pool,
                              .threads = pooled ? THREADS : 0};
    next = exchanges;
    if (setjmp(done) == 0) {
        (member ? camkes_manage_member : camkes_manage_cpi)(&self);
    }
}

#define OPERATION(name) CAMKES_##name
#define UPDATE_TO(priority) (CAMKES_UPDATE | (priority) << 4)
#define OF_THREAD(name, thread) (CAMKES_##name | (thread) << 12)

static const struct exchange LOCK[] = {
    {.what = "the start"},
    {"a badge of no caller", UNKNOWN, OPERATION(SETTLE), 0, CAMKES_MESSAGE_BADGE, 0, 10},
    {"a message with words", W_LOW, OPERATION(SETTLE), 1, CAMKES_MESSAGE_TOO_LONG, 0, 10},
    {"a label that is too long", W_LOW, (seL4_Word)1 << CAMKES_OPERATION_BITS, 0,
     CAMKES_MESSAGE_LABEL, 0, 10},
    {"an unknown operation of a worker", W_LOW, 0, 0, CAMKES_MESSAGE_OPERATION, 0, 10},
    {"an unknown operation of a caller", C_LOW, 0, 0, CAMKES_MESSAGE_OPERATION, 0, 10},
    {"an operation of workers", C_LOW, OPERATION(ACQUIRE_LOCK), 0, CAMKES_MESSAGE_OPERATION, 0, 10},
    {"an operation of callers", W_LOW, UPDATE_TO(15), 0, CAMKES_MESSAGE_OPERATION, 0, 10},
    {"an operation of pools", W_LOW, OF_THREAD(BEGIN_REQUEST, 0), 0, CAMKES_MESSAGE_OPERATION, 0,
     10},
    {"the same", W_LOW, OF_THREAD(END_REQUEST, 0), 0, CAMKES_MESSAGE_OPERATION, 0, 10},
    {"settle", W_LOW, OPERATION(SETTLE), 0, CAMKES_MESSAGE_GOOD, 0, 10},
    {"a lock that is not held", W_LOW, OPERATION(RELEASE_LOCK), 0, CAMKES_MESSAGE_OPERATION, 0, 10},
    {"the lock is free", W_LOW, OPERATION(ACQUIRE_LOCK), 0, CAMKES_MESSAGE_GOOD, 0, 10},
    {"the holder asks again", W_LOW, OPERATION(ACQUIRE_LOCK), 0, CAMKES_MESSAGE_OPERATION, 0, 10},
    {"no context waits", W_LOW, OPERATION(RELEASE_LOCK), 0, CAMKES_MESSAGE_OPERATION, 0, 10},
    {"a waiter", W_MID, OPERATION(ACQUIRE_LOCK), 0, SAVED, 0, 20},
    {"a waiter asks again", W_MID, OPERATION(ACQUIRE_LOCK), 0, CAMKES_MESSAGE_OPERATION, 0, 20},
    {"a waiter ends", C_MID, OPERATION(CLEAR), 0, CAMKES_MESSAGE_OPERATION, 0, 20},
    {"a second waiter", W_HIGH, OPERATION(ACQUIRE_LOCK), 0, SAVED, 0, 30},
    {"above the bound", C_MID, UPDATE_TO(31), 0, CAMKES_MESSAGE_PRIORITY, 0, 30},
    {"at the bound", C_MID, UPDATE_TO(30), 0, CAMKES_MESSAGE_GOOD, 0, 30},
    {"above all", C_HIGH, UPDATE_TO(40), 0, CAMKES_MESSAGE_GOOD, 0, 40},
    {"no more than before", C_HIGH, UPDATE_TO(35), 0, CAMKES_MESSAGE_GOOD, 0, 40},
    {"another worker releases", W_MID, OPERATION(RELEASE_LOCK), 0, CAMKES_MESSAGE_OPERATION, 0, 40},
    {"the first waiter gets it", W_LOW, OPERATION(RELEASE_LOCK), 0, CAMKES_MESSAGE_GOOD, 102, 10},
    {"the priority is its own again", C_HIGH, OPERATION(CLEAR), 0, CAMKES_MESSAGE_GOOD, 0, 10},
    {"the second one gets it", W_HIGH, OPERATION(RELEASE_LOCK), 0, CAMKES_MESSAGE_GOOD, 101, 10},
    {.what = NULL},
};

static const struct exchange WAIT[] = {
    {.what = "the start"},
    {"the lock is free", W_LOW, OPERATION(ACQUIRE_LOCK), 0, CAMKES_MESSAGE_GOOD, 0, 10},
    {"a waiter", W_HIGH, OPERATION(ACQUIRE_LOCK), 0, SAVED, 0, 30},
    {"one that neither holds the lock nor waits", C_MID, OPERATION(CLEAR), 0, CAMKES_MESSAGE_GOOD,
     0, 30},
    {.what = NULL},
};

static const struct exchange POOL[] = {
    {.what = "the start"},
    {"no thread serves yet", W_LOW, OF_THREAD(END_REQUEST, 0), 0, CAMKES_MESSAGE_OPERATION, 0, 10},
    {"raised before a thread serves", C_LOW, UPDATE_TO(15), 0, CAMKES_MESSAGE_GOOD, 0, 10},
    {"an unknown thread", W_LOW, OF_THREAD(BEGIN_REQUEST, THREADS), 0, CAMKES_MESSAGE_OPERATION, 0,
     10},
    {"a lock without a thread", W_LOW, OPERATION(ACQUIRE_LOCK), 0, CAMKES_MESSAGE_OPERATION, 0, 10},
    {"a thread serves", W_MID, OF_THREAD(BEGIN_REQUEST, 0), 0, CAMKES_MESSAGE_GOOD, 0, 20},
    {"a second one for the same context", W_MID, OF_THREAD(BEGIN_REQUEST, 1), 0,
     CAMKES_MESSAGE_OPERATION, 0, 20},
    {"another thread ends", W_MID, OF_THREAD(END_REQUEST, 1), 0, CAMKES_MESSAGE_OPERATION, 0, 20},
    {"an unknown thread ends", W_MID, OF_THREAD(END_REQUEST, THREADS), 0, CAMKES_MESSAGE_OPERATION,
     0, 20},
    {"it takes the lock", W_MID, OPERATION(ACQUIRE_LOCK), 0, CAMKES_MESSAGE_GOOD, 0, 20},
    {"it ends with the lock", W_MID, OF_THREAD(END_REQUEST, 0), 0, CAMKES_MESSAGE_OPERATION, 0, 20},
    {"a waiter", W_HIGH, OF_THREAD(BEGIN_REQUEST, 1), 0, CAMKES_MESSAGE_GOOD, 0, 20},
    {"it waits", W_HIGH, OPERATION(ACQUIRE_LOCK), 0, SAVED, 0, 30},
    {"a waiter ends", W_HIGH, OF_THREAD(END_REQUEST, 1), 0, CAMKES_MESSAGE_OPERATION, 0, 30},
    {"the lock is handed over", W_MID, OPERATION(RELEASE_LOCK), 0, CAMKES_MESSAGE_GOOD, 102, 20},
    {"the thread gets the ceiling", W_MID, OF_THREAD(END_REQUEST, 0), 0, CAMKES_MESSAGE_GOOD, 0,
     40},
    {"it serves another context", W_LOW, OF_THREAD(BEGIN_REQUEST, 0), 0, CAMKES_MESSAGE_GOOD, 0,
     15},
    {.what = NULL},
};

static const struct exchange NO_CALLERS[] = {
    {.what = "the start"},
    {"the last worker", W_HIGH, OPERATION(SETTLE), 0, CAMKES_MESSAGE_GOOD, 0, 10},
    {"a badge of neither", C_LOW, OPERATION(SETTLE), 0, CAMKES_MESSAGE_BADGE, 0, 10},
    {.what = NULL},
};

#define SET_TO(priority, cause) (CAMKES_SET_PRIORITY | (priority) << 4 | (cause) << 12)
#define GIVE(more, from) (CAMKES_GIVE_LOCK | (more) << 4 | (from) << 12)

static const struct exchange MEMBER[] = {
    {.what = "the start"},
    {"an unknown operation", W_LOW, 0, 1, CAMKES_MESSAGE_OPERATION, 0, 10},
    {"a lock that is not held", W_LOW, OPERATION(FREE_LOCK), 1, CAMKES_MESSAGE_OPERATION, 0, 10},
    {"the lock is free", W_LOW, OPERATION(TAKE_LOCK), 1, CAMKES_MESSAGE_GOOD, 0, 10},
    {"the holder asks again", W_LOW, OPERATION(TAKE_LOCK), 1, CAMKES_MESSAGE_OPERATION, 0, 10},
    {"a waiter learns who holds it", W_MID, OPERATION(TAKE_LOCK), 1, CAMKES_MESSAGE_GOOD, 1, 10},
    {"raised", W_LOW, SET_TO(30, HIGH), 1, CAMKES_MESSAGE_GOOD, NESTED, 30},
    {"not raised", W_LOW, SET_TO(30, HIGH), 1, CAMKES_MESSAGE_GOOD, 0, 30},
    {"lowered", W_LOW, SET_TO(20, MID), 1, CAMKES_MESSAGE_GOOD, 0, 20},
    {"given, and another waits", W_MID, GIVE(1, LOW), 1, CAMKES_MESSAGE_GOOD, 0, 20},
    {"the new holder", W_HIGH, OPERATION(TAKE_LOCK), 1, CAMKES_MESSAGE_GOOD, 2, 20},
    {"the old one frees", W_LOW, OPERATION(FREE_LOCK), 1, CAMKES_MESSAGE_OPERATION, 0, 20},
    {"given, and none waits", W_HIGH, GIVE(0, MID), 1, CAMKES_MESSAGE_GOOD, 0, 20},
    {.what = NULL},
};

static const struct exchange FREED[] = {
    {.what = "the start"},
    {"the lock is free", W_HIGH, OPERATION(TAKE_LOCK), 1, CAMKES_MESSAGE_GOOD, 0, 10},
    {"it is freed", W_HIGH, OPERATION(FREE_LOCK), 1, CAMKES_MESSAGE_GOOD, 0, 10},
    {"it is free again", W_MID, OPERATION(TAKE_LOCK), 1, CAMKES_MESSAGE_GOOD, 0, 10},
    {"one more", W_HIGH, OPERATION(TAKE_LOCK), 1, CAMKES_MESSAGE_GOOD, 2, 10},
    {.what = NULL},
};

static const struct exchange MEMBER_POOL[] = {
    {.what = "the start"},
    {"a lock without a thread", W_LOW, OPERATION(TAKE_LOCK), 1, CAMKES_MESSAGE_OPERATION, 0, 10},
    {"the second thread serves", W_LOW, OF_THREAD(MEMBER_BEGIN, 1), 1, CAMKES_MESSAGE_GOOD, 0, 10},
    {"the first one ends", W_LOW, OF_THREAD(MEMBER_END, 0), 1, CAMKES_MESSAGE_OPERATION, 0, 10},
    {"the second one ends", W_LOW, OF_THREAD(MEMBER_END, 1), 1, CAMKES_MESSAGE_GOOD, 0, 10},
    {.what = NULL},
};

/* A manager that is a member of a group. */
static void test_members(void)
{
    member = true;
    run(MEMBER, false, CONTEXTS);
    next = MEMBER;
    need(atomic_load(&cpi.lock) == contexts[HIGH].held, "the lock has another holder");
    need(atomic_load(&contexts[LOW].cause) == MID, "the priority has another cause");
    run(FREED, false, CONTEXTS);
    next = FREED;
    need(atomic_load(&cpi.lock) == (contexts[MID].held | CAMKES_WAITERS),
         "there is no mark of the waiter");
    run(MEMBER_POOL, true, CONTEXTS);
    next = MEMBER_POOL;
    need(priorities[MID] == 40, "a thread without a request has not the ceiling");
}

int main(void)
{
    run(LOCK, false, CONTEXTS);
    next = LOCK;
    need(saved == 2, "a reply was not saved");
    need(contexts[HIGH].effective == 30, "a raised priority is left over");
    run(NO_CALLERS, false, 0);
    run(WAIT, false, CONTEXTS);
    next = WAIT;
    need(contexts[MID].effective == 20, "it has the priority of the waiter");
    run(POOL, true, CONTEXTS);
    next = POOL;
    need(saved == 4, "a reply was not saved");
    test_members();
    printf("good\n");
    return 0;
}
