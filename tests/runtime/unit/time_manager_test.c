/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: RT-24 */
/* The time manager: what it configures, and what a change of the criticality does, call by call. */
#include "kernel_log.h"

#include <camkes/instance.h>
#include <camkes/label.h>
#include <camkes/realtime.h>
#include <camkes/time_manager.h>

enum { ENDPOINT = 50, REPLY, RISEN, TCB, FIRST = 7, SECOND, THIRD, FOURTH };

/* Threads that execute on the budgets of FIRST. */
static const seL4_CPtr holders[] = {11, 12};
static const struct camkes_server servers[] = {
    {1, 21, {10, 20, 20, 20}, 100, 3, 5, true, holders, 2},
    {2, 22, {10, 12, 15, 15}, 50, 0, 6, false, holders + 1, 1},
    {3, 21, {30, 30, 30, 30}, 40, 1, 7, false, NULL, 0},
};
static const seL4_CPtr controls[] = {21, 22};
static const struct camkes_requested first_requests[] = {
    {0, 0, 31}, /* at a CPI without a manager, by its worker */
    {41, 3, 0},
};
static const struct camkes_requested second_requests[] = {{42, 4, 0}};
static const struct camkes_requested third_requests[] = {{43, 900, 0}, {44, 2, 0}};
static const struct camkes_critical criticals[] = {
    {FIRST, 2, {40, 60, 80, 80}, 11, &servers[0], first_requests, 2},
    {SECOND, 2, {30, 50, 50, 50}, 12, &servers[1], second_requests, 1},
    {THIRD, 2, {20, 45, 70, 70}, 0, NULL, third_requests, 2}, /* the manager of a group sets it */
    {FOURTH, 1, {10, 10, 10, 10}, 13, NULL, NULL, 0},
};
static struct camkes_time_manager manager;
static struct camkes_thread self = {.tcb = TCB, .reply = REPLY, .interface = &manager};

void camkes_platform_delete(seL4_CPtr slot)
{
    note("delete %lu\n", (unsigned long)slot);
}

static void begin(unsigned level)
{
    manager = (struct camkes_time_manager){.endpoint = ENDPOINT,
                                           .risen = RISEN,
                                           .holds = true,
                                           .highest = 2,
                                           .critical = criticals,
                                           .criticals = 4};
    atomic_store(&_camkes_level.level, level);
    camkes_set_self(&self);
}

/* A message, and what came of it: how it was answered is the end of its calls. */
static void need_handled(seL4_Word badge, seL4_Word label, bool answered, const char *calls)
{
    const struct message one = {badge, label, {0}};
    char all[2000] = "receive 50 with 51\n";
    strcat(all, calls);
    strcat(all, answered ? "receive 50 with 51\n" : "reply 0 to 51\nreceive 50 with 51\n");
    script = &one;
    messages = 1;
    UNTIL_OVER(camkes_manage_time(&self));
    need_calls(all);
}

static void need_level(unsigned level)
{
    need(atomic_load(&_camkes_level.level) == level, "the criticality");
    need(camkes_criticality() == level, "what components see");
}

static void test_start(void)
{
    static const char *const configured =
        "10 of 100, 3 more, badge 5, flags 1, by configure 21 to 1\n"
        "10 of 50, 0 more, badge 6, flags 0, by configure 22 to 2\n"
        "30 of 40, 1 more, badge 7, flags 0, by configure 21 to 3\n";
    char wanted[400];
    manager = (struct camkes_time_manager){servers, 3, controls, 2, .holds = false};
    UNTIL_OVER(camkes_manage_time(&self));
    (void)snprintf(wanted, sizeof wanted, "%sdelete 21\ndelete 22\nend\n", configured);
    need_calls(wanted); /* its thread ends, as there are no criticalities */
    manager.holds = true;
    UNTIL_OVER(camkes_manage_time(&self));
    (void)snprintf(wanted, sizeof wanted, "%send\n", configured);
    need_calls(wanted);
    refuse("configure 22 to 2");
    UNTIL_OVER(camkes_manage_time(&self));
    need_calls("10 of 100, 3 more, badge 5, flags 1, by configure 21 to 1\n"
               "10 of 50, 0 more, badge 6, flags 0, by configure 22 to 2\nfault\n");
}

/* Tasks above the one that raises it are handled before, and those below after its answer. */
static void test_raise(void)
{
    begin(0);
    refuse("unbind 1 to 11");
    need_handled(CAMKES_BADGE_RAISE + SECOND, 0, true,
                 "criticality: 1 8\n"
                 "by 53 priority 11 to 60\n"
                 "by 53 priority 31 to 60\n"
                 "call 0x73c6 to 41 3\n"
                 "unbind 1 to 11\n"
                 "unbind 1 to 12\n"
                 "20 of 100, 3 more, badge 5, flags 1, by configure 21 to 1\n"
                 "bind 1 to 12\n"
                 "by 53 priority 12 to 50\n"
                 "call 0x8326 to 42 4\n"
                 "unbind 2 to 12\n"
                 "12 of 50, 0 more, badge 6, flags 0, by configure 22 to 2\n"
                 "bind 2 to 12\n"
                 "send 0 to 51\n"
                 "call 0x92d6 to 43 900\n"
                 "call 0x92d6 to 44 2\n"
                 "signal 52\n");
    need_level(1);
    need_handled(CAMKES_BADGE_RAISE + SECOND, 0, true,
                 "criticality: 2 8\n"
                 "by 53 priority 11 to 80\n"
                 "by 53 priority 31 to 80\n"
                 "call 0x7506 to 41 3\n"
                 "unbind 2 to 12\n"
                 "15 of 50, 0 more, badge 6, flags 0, by configure 22 to 2\n"
                 "bind 2 to 12\n"
                 "send 0 to 51\n"
                 "call 0x9466 to 43 900\n"
                 "call 0x9466 to 44 2\n");
    need_level(2);
    need_handled(CAMKES_BADGE_RAISE + SECOND, 0, false, "");
    need_level(2);
}

/* The least urgent task: its call is answered when all is done. */
static void test_last(void)
{
    begin(0);
    need_handled(CAMKES_BADGE_RAISE + FOURTH, 0, false,
                 "criticality: 1 10\n"
                 "by 53 priority 11 to 60\n"
                 "by 53 priority 31 to 60\n"
                 "call 0x73c6 to 41 3\n"
                 "unbind 1 to 11\n"
                 "20 of 100, 3 more, badge 5, flags 1, by configure 21 to 1\n"
                 "bind 1 to 11\n"
                 "by 53 priority 12 to 50\n"
                 "call 0x8326 to 42 4\n"
                 "unbind 2 to 12\n"
                 "12 of 50, 0 more, badge 6, flags 0, by configure 22 to 2\n"
                 "bind 2 to 12\n"
                 "call 0x92d6 to 43 900\n"
                 "call 0x92d6 to 44 2\n"
                 "signal 52\n");
    need_level(1);
    need_handled(CAMKES_BADGE_RAISE + FOURTH, 2, false, ""); /* that is its own criticality */
    need_level(1);
    atomic_store(&_camkes_level.level, 2); /* it can come late */
    need_handled(CAMKES_BADGE_RAISE + FOURTH, 0, false, "");
    need_level(2);
}

/* The next criticality is the first at which the task has a larger budget. */
static void test_larger(void)
{
    begin(0);
    need_handled(CAMKES_BADGE_RAISE + SECOND + 100, 0, false, "");
    need_level(0); /* of no task */
    for (unsigned i = 0; i < 3; i++) {
        static const struct camkes_server later = {4, 21,    {9, 9, 15, 17}, 90, 0,
                                                   8, false, holders,        1};
        static const struct camkes_server same = {5, 21, {9, 9, 9, 9}, 90, 0, 8, false, holders, 2};
        static const struct camkes_critical only[] = {
            {FIRST, 3, {40, 40, 40, 40}, 11, &later, NULL, 0},
            {SECOND, 3, {30, 30, 30, 30}, 12, NULL, NULL, 0},
            {THIRD, 2, {20, 20, 20, 20}, 13, &same, NULL, 0},
        };
        begin(0);
        manager.critical = only;
        manager.criticals = 3;
        need_handled(CAMKES_BADGE_RAISE + FIRST + i, 0, false,
                     i == 0   ? "criticality: 2 7\nunbind 4 to 11\n"
                                "15 of 90, 0 more, badge 8, flags 0, by configure 21 to 4\n"
                                "bind 4 to 11\nsignal 52\n"
                     : i == 1 ? "criticality: 1 8\nsignal 52\n"
                              : "criticality: 2 9\nunbind 4 to 11\n"
                                "15 of 90, 0 more, badge 8, flags 0, by configure 21 to 4\n"
                                "bind 4 to 11\nsignal 52\n");
        need_level(i == 1 ? 1 : 2);
    }
}

/* It falls when the processor is idle: then no thread executes on a context whose budget falls. */
static void test_idle(void)
{
    begin(2);
    need_handled(CAMKES_BADGE_IDLE, 0, false,
                 "criticality: 0 65535\n"
                 "by 53 priority 11 to 40\n"
                 "by 53 priority 31 to 40\n"
                 "call 0x7286 to 41 3\n"
                 "10 of 100, 3 more, badge 5, flags 1, by configure 21 to 1\n"
                 "by 53 priority 12 to 30\n"
                 "call 0x81e6 to 42 4\n"
                 "10 of 50, 0 more, badge 6, flags 0, by configure 22 to 2\n"
                 "call 0x9146 to 43 900\n"
                 "call 0x9146 to 44 2\n");
    need_level(0);
    need_handled(CAMKES_BADGE_IDLE, 0, false, "");
    begin(2);
    refuse("configure 21 to 1");
    const struct message one = {CAMKES_BADGE_IDLE, 0, {0}};
    script = &one;
    messages = 1;
    UNTIL_OVER(camkes_manage_time(&self));
    need(strstr(done, "configure 21 to 1\nfault\n") != NULL, "a refusal is not seen");
    done[0] = 0;
}

/* Components can only raise it; more than the highest of a task counts as that. */
static void test_set(void)
{
    begin(1);
    manager.criticals = 0;
    need_handled(CAMKES_BADGE_SET, 0, false, "");
    need_handled(CAMKES_BADGE_SET, 1, false, "");
    need_level(1);
    need_handled(CAMKES_BADGE_SET, 2, false, "criticality: 2 65535\n");
    need_level(2);
    begin(0);
    manager.criticals = 0;
    need_handled(CAMKES_BADGE_SET, 3, false, "criticality: 2 65535\nsignal 52\n");
    need_level(2);
    begin(0);
    manager.criticals = 0;
    need_handled(CAMKES_BADGE_SET, ~(seL4_Word)0 >> 12, false, "criticality: 2 65535\nsignal 52\n");
    need_handled(CAMKES_BADGE_SET, 1, false, "");
    need_level(2);
}

static void test_several(void)
{
    static const struct message two[] = {{CAMKES_BADGE_SET, 1, {0}}, {CAMKES_BADGE_SET, 2, {0}}};
    begin(0);
    manager.criticals = 0;
    script = two;
    messages = 2;
    UNTIL_OVER(camkes_manage_time(&self));
    need_calls("receive 50 with 51\ncriticality: 1 65535\nsignal 52\nreply 0 to 51\n"
               "receive 50 with 51\ncriticality: 2 65535\nreply 0 to 51\nreceive 50 with 51\n");
}

/* No thread has a context whose budget grows: nothing is bound. */
static void test_without_holder(void)
{
    begin(1);
    manager.critical = &criticals[1];
    manager.criticals = 1;
    refuse("unbind 2 to 12");
    need_handled(CAMKES_BADGE_SET, 2, false,
                 "criticality: 2 65535\nunbind 2 to 12\n"
                 "15 of 50, 0 more, badge 6, flags 0, by configure 22 to 2\n");
    begin(1);
    manager.critical = &criticals[1];
    manager.criticals = 1;
    refuse("bind 2 to 12");
    const struct message one = {CAMKES_BADGE_SET, 2, {0}};
    script = &one;
    messages = 1;
    UNTIL_OVER(camkes_manage_time(&self));
    need_calls("receive 50 with 51\ncriticality: 2 65535\nunbind 2 to 12\n"
               "15 of 50, 0 more, badge 6, flags 0, by configure 22 to 2\nbind 2 to 12\nfault\n");
}

static void test_others(void)
{
    const struct camkes_idle idle = {RISEN, ENDPOINT};
    struct camkes_instance instance = {.name = "i"};
    struct camkes_thread thread = {.interface = (void *)&idle, .instance = &instance};
    ends_after = 3;
    UNTIL_OVER(camkes_await_idle(&thread));
    need_calls("wait 52\ncall 0 to 50\nwait 52\ncall 0 to 50\nwait 52\n");
    camkes_set_self(&thread);
    camkes_set_criticality(2);
    need_calls(""); /* only components with criticality_control can */
    instance.criticality = 60;
    camkes_set_criticality(2);
    need_calls("call 0x2 to 60\n");
}

int main(void)
{
    test_start();
    test_raise();
    test_last();
    test_larger();
    test_idle();
    test_set();
    test_several();
    test_without_holder();
    test_others();
    puts("good");
    return 0;
}
