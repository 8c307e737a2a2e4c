/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: RT-21 */
/* How passive threads come to where they wait for callers, call by call. */
#include "kernel_log.h"

#include <camkes/instance.h>
#include <camkes/serve.h>

#include "../../../runtime/src/time/overrun.h"

enum { LENT = 1, DONE, GATE, READY, TCB = 10, ENDPOINT = 20, REPLY };

static struct camkes_start start = {.ready = READY, .lent = {LENT, DONE, GATE}};
static const struct camkes_lent home = {LENT + 30, DONE + 30, GATE + 30};
static const struct camkes_instance instance = {.name = "i", .start = &start},
                                    another = {.name = "j", .start = &start};
static struct camkes_cpi cpi;
static struct camkes_thread threads[] = {
    {.tcb = TCB, .instance = &instance, .passive = true},
    {.tcb = TCB + 1, .instance = &instance, .passive = true, .cpi = &cpi},
    {.tcb = TCB + 2, .instance = &instance},
    {.tcb = TCB + 3, .instance = &another, .passive = true},
    {.tcb = TCB + 4, .instance = &instance, .passive = true},
};
struct camkes_thread *const camkes_threads[] = {&threads[0], &threads[1], &threads[2], &threads[3],
                                                &threads[4]};
const unsigned camkes_thread_count = 5;

void camkes_return_time(const struct camkes_thread *self, enum camkes_return when)
{
    note("%lu returns its time, %d\n", (unsigned long)self->tcb, (int)when);
}

void camkes_overrun_prepare(const struct camkes_thread *worker)
{
    note("timeouts of %lu\n", (unsigned long)worker->tcb);
}

/* The thread executes on the lent context until it has said twice that it is ready. */
static void test_start(void)
{
    need(camkes_platform_passive(&instance) == 2, "how many initialise an interface");
    need(camkes_platform_passive(&another) == 1, "those of another instance");
    camkes_platform_start_passive(&instance);
    need_calls("bind 1 to 10\nwait 4\nwait 4\nunbind 1 to 0\n"
               "bind 1 to 14\nwait 4\nwait 4\nunbind 1 to 0\n");
    refuse("bind 1 to 13");
    UNTIL_OVER(camkes_platform_start_passive(&another));
    need_calls("bind 1 to 13\nfault\n");
    refuse("unbind 1 to 0");
    UNTIL_OVER(camkes_platform_start_passive(&another));
    need_calls("bind 1 to 13\nwait 4\nwait 4\nunbind 1 to 0\nfault\n");
}

/* It is let through the gate when it has no time any more, and its timeouts have a way. */
static void test_open(void)
{
    camkes_platform_open_passive(&instance);
    need_calls("bind 1 to 10\nwait 2\nunbind 1 to 0\ncall 0 to 3\n"
               "timeouts of 11\nbind 1 to 11\nwait 2\nunbind 1 to 0\ncall 0 to 3\n"
               "bind 1 to 14\nwait 2\nunbind 1 to 0\ncall 0 to 3\n");
    /* those of higher priority first */
    threads[1].priority = 30;
    threads[4].priority = 40;
    camkes_platform_open_passive(&instance);
    need_calls("bind 1 to 14\nwait 2\nunbind 1 to 0\ncall 0 to 3\n"
               "timeouts of 11\nbind 1 to 11\nwait 2\nunbind 1 to 0\ncall 0 to 3\n"
               "bind 1 to 10\nwait 2\nunbind 1 to 0\ncall 0 to 3\n");
    camkes_platform_start_passive(&instance);
    need_calls("bind 1 to 14\nwait 4\nwait 4\nunbind 1 to 0\n"
               "bind 1 to 10\nwait 4\nwait 4\nunbind 1 to 0\n");
    threads[1].priority = threads[4].priority = 0;
    camkes_platform_bring_home(&home, 8);
    need_calls("wait 32\nunbind 8 to 0\ncall 0 to 33\n");
}

static void test_receive(void)
{
    static const struct message received[] = {{0, 0, {0}}, {5, 66, {0}}};
    for (unsigned i = 0; i < 4; i++) {
        struct camkes_thread self = {.tcb = TCB,
                                     .instance = &instance,
                                     .reply = REPLY,
                                     .passive = i > 0,
                                     .arriving = i == 2,
                                     .home = i == 3 ? &home : NULL};
        seL4_Word badge = 0;
        camkes_set_self(&self);
        messages = i == 0 ? 1 : 2;
        script = &received[2 - messages];
        const seL4_MessageInfo_t info = camkes_platform_receive_first(ENDPOINT, &badge);
        need(seL4_MessageInfo_get_label(info) == 66 && badge == 5, "another message");
        need_calls(i == 0   ? "receive 20 with 21\n"
                   : i == 1 ? "offer 0 to 2\nreceive 3 with 21\nreply 0 to 21\nreceive 20 with 21\n"
                   : i == 2 ? "offer 0 to 2\nreceive 3 with 21\nreply 0 to 21\n"
                              "receive 20 with 21\n10 returns its time, 4\n"
                            : "offer 0 to 32\nreceive 33 with 21\nreply 0 to 21\n"
                              "receive 20 with 21\n");
    }
}

int main(void)
{
    test_start();
    test_open();
    test_receive();
    puts("good");
    return 0;
}
