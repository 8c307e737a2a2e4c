/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: RT-26 */
/* The manager of a task whose priority a group, or a scheduler, sets. */
#include "../../../runtime/src/core/nested.h"
#include "messages.h"

#include <camkes/condition.h>

enum { NESTED = 77 };

static struct camkes_thread control = {.name = "control", .tcb = 10, .number = 5};
static struct camkes_context context;
static struct camkes_helper helper;
static seL4_Error refused;

seL4_Error seL4_TCB_SetPriority(seL4_TCB tcb, seL4_CPtr authority, seL4_Word priority)
{
    need(tcb == 10 && authority == 2, "another thread");
    if (refused == seL4_NoError) {
        note("priority %u\n", (unsigned)priority);
    }
    return refused;
}

void camkes_nested_push(struct camkes_context *of)
{
    need(of == &context, "another context");
    note("push %u for %u\n", atomic_load(&of->effective), atomic_load(&of->cause));
}

seL4_CPtr camkes_nested_found(struct camkes_context *of)
{
    need(of == &context, "another context");
    note("nested %u for %u\n", atomic_load(&of->effective), atomic_load(&of->cause));
    return NESTED;
}

static void begin(bool scheduled)
{
    context = (struct camkes_context){
        .id = 60, .base = 20, .effective = 20, .cause = 60, .worker = &control};
    helper = (struct camkes_helper){.context = &context,
                                    .lowest = 10,
                                    .highest = 40,
                                    .scheduled = scheduled,
                                    .manager = 1,
                                    .authority = 2};
    self.interface = &helper;
    self.start = camkes_manage_helper;
    refused = seL4_NoError;
}

static void set(uint8_t priority, uint16_t cause, const char *wanted)
{
    message(2, camkes_member_label(CAMKES_SET_PRIORITY, priority, cause), wanted);
}

static void of_group(void)
{
    begin(false);
    set(30, 71, "lend: 60 20 30 71 of thread 5\npriority 30\nnested 30 for 71\nreply good 77\n");
    set(30, 72, "lend: 60 30 30 72 of thread 5\npriority 30\nreply good 0\n");
    set(25, 72, "lend: 60 30 25 72 of thread 5\npriority 25\nreply good 0\n");
    set(40, 71, "lend: 60 25 40 71 of thread 5\npriority 40\nnested 40 for 71\nreply good 77\n");
    set(41, 71, "reply priority 0\n");
    set(9, 71, "reply priority 0\n");
    set(20, 60, "lend: 60 40 20 60 of thread 5\npriority 20\nreply good 0\n");
    message(0, camkes_member_label(CAMKES_FIND_NESTED, 1, 0), "nested 20 for 60\nreply good 77\n");
    later_from = 2;
    later_label = camkes_member_label(CAMKES_FIND_NESTED, 1, 0);
    message(CAMKES_BADGE_CONTROL, camkes_worker_label(CAMKES_SETTLE, 0, 0),
            "reply good 0\nnested 20 for 60\nreply good 77\n");
    message(CAMKES_BADGE_CONTROL, camkes_worker_label(CAMKES_ACQUIRE_LOCK, 0, 0), "reply no 0\n");
    message(CAMKES_BADGE_CONTROL, camkes_member_label(CAMKES_SET_PRIORITY, 30, 0), "reply no 0\n");
    message(2, camkes_worker_label(CAMKES_SETTLE, 0, 0), "reply no 0\n");
    message(2, camkes_member_label(CAMKES_TAKE_LOCK, 0, 0), "reply no 0\n");
    refused = seL4_RangeError;
    set(31, 71,
        "lend: 60 20 31 71 of thread 5\nthread control cannot be set to priority 31: kernel error "
        "4\n");
}

/* Its requests have at least the base priority; the one that orders it has no groups. */
static void of_scheduler(void)
{
    begin(true);
    set(10, 0, "priority 10\nreply good 0\n");
    need(atomic_load(&context.effective) == 20, "the priority of its requests");
    set(20, 0, "priority 20\nreply good 0\n");
    set(21, 0, "priority 21\npush 21 for 0\nreply good 0\n");
    set(15, 0, "priority 15\nreply good 0\n");
}

int main(void)
{
    of_group();
    of_scheduler();
    printf("good\n");
    return 0;
}
