/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: RT-25 */
/* The scheduler of a band: which priorities it gives after each message, and how it answers. */
#include "kernel_log.h"

#include "../../../runtime/src/core/nested.h"
#include <camkes/instance.h>
#include <camkes/scheduler.h>

enum { A, B, C, MEMBERS };
enum { ENDPOINT = 1, REPLY, TIMER, CONTEXT = 50, MANAGER = 60, TIME = 30 };
enum { LOWEST = 10, HIGHEST = 20, GOOD = 0, OPERATION = CAMKES_MESSAGE_OPERATION };
enum { BADGE = CAMKES_MESSAGE_BADGE };
enum { BEGINS = CAMKES_JOB_BEGINS, ENDS = CAMKES_JOB_ENDS, FIRED = MEMBERS + 1 };

static const struct camkes_instance instance = {.name = "i"};
static struct camkes_band_task members[MEMBERS], wanted[MEMBERS];
static struct camkes_band band;
static struct camkes_thread self = {.instance = &instance, .reply = REPLY, .interface = &band};
static uint64_t now;

void camkes_ask_manager(seL4_CPtr manager, seL4_Word label, const char *name)
{
    note("%s: %#lx to %lu\n", name, (unsigned long)label, (unsigned long)manager);
}

seL4_MessageInfo_t camkes_refuse_order(const struct camkes_thread *thread, seL4_Word badge,
                                       unsigned error)
{
    need(thread == &self && (error == OPERATION || error == BADGE), "a good message is refused");
    (void)badge;
    return seL4_MessageInfo_new(error, 0, 0, 0);
}

void camkes_start_interface(const struct camkes_instance *of, void (*init)(void))
{
    need(of == &instance && init == NULL, "another interface");
    note("ready\n");
}

void camkes_platform_timer_arm(seL4_CPtr timer, uint64_t first, uint64_t period)
{
    note("arm %lu: %lu, %lu\n", (unsigned long)timer, (unsigned long)first, (unsigned long)period);
}

uint64_t camkes_platform_now(void)
{
    return now;
}

static void begin(uint64_t slice)
{
    static const char *const names[] = {"a", "b", "c"};
    for (unsigned i = 0; i < MEMBERS; i++) {
        members[i] = (struct camkes_band_task){.name = names[i],
                                               .context = (uint16_t)(CONTEXT + i),
                                               .manager = MANAGER + i,
                                               .weight = i + 1,
                                               .time = TIME + i,
                                               .priority = HIGHEST};
        consumed[TIME + i] = 0;
    }
    memcpy(wanted, members, sizeof members);
    band = (struct camkes_band){.endpoint = ENDPOINT,
                                .lowest = LOWEST,
                                .highest = HIGHEST,
                                .members = MEMBERS,
                                .member = members,
                                .slice = slice,
                                .timer = TIMER};
    camkes_set_self(&self);
}

static void want(unsigned member, bool active, uint8_t priority, uint64_t due, uint32_t arrival)
{
    wanted[member].active = active;
    wanted[member].priority = priority;
    wanted[member].due = due;
    wanted[member].arrival = arrival;
}

/* A message, of a member's badge or that of the timer, what is called, and the answer. */
static void need_handled(seL4_Word badge, seL4_Word label, uint64_t due, const char *calls,
                         unsigned answered)
{
    const struct message one = {badge, label, {due & 0xffffffff, due >> 32}};
    char all[600];
    (void)snprintf(all, sizeof all, "ready\nreceive 1 with 2\n%sreply %#x to 2\nreceive 1 with 2\n",
                   calls, answered);
    script = &one;
    messages = 1;
    UNTIL_OVER(camkes_schedule(&self));
    need_calls(all);
    for (unsigned i = 0; i < MEMBERS; i++) {
        need(memcmp(&members[i], &wanted[i], sizeof members[i]) == 0, "a member");
    }
}

/* The earliest deadline has the highest priority; of two, the job that began first. */
static void test_deadlines(void)
{
    const uint64_t late = (uint64_t)5 << 32;
    begin(0);
    band.arrivals = UINT32_MAX - 1; /* numbers begin anew some day */
    want(A, true, 10, late, UINT32_MAX - 1);
    need_handled(A + 1, BEGINS, late, "turn: 50 10 21474836480\na: 0x320aa to 60\n", GOOD);
    want(C, true, 11, 300, UINT32_MAX);
    need_handled(C + 1, BEGINS, 300, "turn: 52 11 300\nc: 0x340ba to 62\n", GOOD);
    want(C, true, 12, 300, UINT32_MAX);
    want(B, true, 11, 300, 0);
    need_handled(B + 1, BEGINS, 300,
                 "turn: 52 12 300\nc: 0x340ca to 62\nturn: 51 11 300\nb: 0x330ba to 61\n", GOOD);
    want(C, false, 20, 300, UINT32_MAX);
    need_handled(C + 1, ENDS, 0, "turn: 52 20 300\nc: 0x3414a to 62\n", GOOD);
    want(C, true, 10, late + 1, 1);
    want(B, true, 12, 300, 0);
    want(A, true, 11, late, UINT32_MAX - 1);
    need_handled(C + 1, BEGINS, late + 1,
                 "turn: 51 12 300\nb: 0x330ca to 61\nturn: 50 11 21474836480\na: 0x320ba to 60\n"
                 "turn: 52 10 21474836481\nc: 0x340aa to 62\n",
                 GOOD);
}

/* Those that go on keep their priorities, which no one else has. */
static void test_end(void)
{
    begin(0);
    want(A, true, 10, 7, 0);
    need_handled(A + 1, BEGINS, 7, "turn: 50 10 7\na: 0x320aa to 60\n", GOOD);
    want(A, true, 11, 7, 0);
    want(B, true, 10, 8, 1);
    need_handled(B + 1, BEGINS, 8,
                 "turn: 50 11 7\na: 0x320ba to 60\nturn: 51 10 8\nb: 0x330aa to 61\n", GOOD);
    want(B, false, 20, 8, 1);
    need_handled(B + 1, ENDS, 0, "turn: 51 20 8\nb: 0x3314a to 61\n", GOOD);
}

/* It receives the next message with the answer to the last. */
static void test_next(void)
{
    const struct message two[] = {{A + 1, BEGINS, {9, 0}}, {A + 1, ENDS, {0, 0}}};
    begin(0);
    script = two;
    messages = 2;
    UNTIL_OVER(camkes_schedule(&self));
    need_calls("ready\nreceive 1 with 2\nturn: 50 10 9\na: 0x320aa to 60\nreply 0 to 2\n"
               "receive 1 with 2\nturn: 50 20 9\na: 0x3214a to 60\nreply 0 to 2\n"
               "receive 1 with 2\n");
}

static void test_refusals(void)
{
    begin(0);
    need_handled(A + 1, ENDS, 0, "", OPERATION);
    need_handled(A + 1, 0, 0, "", OPERATION);
    need_handled(FIRED, BEGINS, 0, "", BADGE); /* it has no timer */
    need_handled(A + 1, BEGINS | 1 << 4, 0, "", OPERATION);
    want(A, true, 10, 9, 0);
    need_handled(A + 1, BEGINS, 9, "turn: 50 10 9\na: 0x320aa to 60\n", GOOD);
    need_handled(A + 1, BEGINS, 5, "", OPERATION);
    need_handled(A + 1, 3, 5, "", OPERATION);
    want(A, false, 20, 9, 0);
    need_handled(A + 1, ENDS, 0, "turn: 50 20 9\na: 0x3214a to 60\n", GOOD);
}

/* The processor is divided by weights: what each has executed is asked for in us. */
static void test_slices(void)
{
    begin(1000);
    now = 7;
    consumed[TIME + A] = 50; /* while it was not active */
    want(A, true, 10, 0, 0);
    need_handled(A + 1, BEGINS, 99, "consumed 30\narm 3: 0, 0\nturn: 50 10 0\na: 0x320aa to 60\n",
                 GOOD);
    consumed[TIME + A] = 4;
    consumed[TIME + B] = 60;
    want(A, true, 11, 4000, 0);
    want(B, true, 10, 4000, 1); /* it has no claim to time in which it was not active */
    need_handled(B + 1, BEGINS, 99,
                 "consumed 30\nconsumed 31\narm 3: 1007, 0\nturn: 50 11 4000\na: 0x320ba to 60\n"
                 "turn: 51 10 4000\nb: 0x330aa to 61\n",
                 GOOD);
    consumed[TIME + A] = 3;
    consumed[TIME + B] = 2;
    consumed[TIME + C] = 70;
    want(A, true, 10, 7000, 0);
    want(B, true, 11, 5000, 1);
    need_handled(FIRED, 0, 0,
                 "consumed 30\nconsumed 31\narm 3: 1007, 0\nturn: 51 11 5000\nb: 0x330ba to 61\n"
                 "turn: 50 10 7000\na: 0x320aa to 60\n",
                 GOOD);
    consumed[TIME + B] = 8;
    want(B, false, 20, 9000, 1);
    need_handled(B + 1, ENDS, 0,
                 "consumed 30\nconsumed 31\nturn: 51 20 9000\nb: 0x3314a to 61\narm 3: 0, 0\n",
                 GOOD);
    want(B, true, 10, 9000, 2); /* what it has had counts */
    want(A, true, 11, 7000, 0);
    need_handled(B + 1, BEGINS, 0,
                 "consumed 30\nconsumed 31\narm 3: 1007, 0\nturn: 50 11 7000\na: 0x320ba to 60\n"
                 "turn: 51 10 9000\nb: 0x330aa to 61\n",
                 GOOD);
    now = 2000;
    want(A, false, 20, 7000, 0);
    need_handled(A + 1, ENDS, 0,
                 "consumed 30\nconsumed 31\nturn: 50 20 7000\na: 0x3214a to 60\narm 3: 0, 0\n",
                 GOOD);
}

int main(void)
{
    test_deadlines();
    test_end();
    test_next();
    test_refusals();
    test_slices();
    puts("good");
    return 0;
}
