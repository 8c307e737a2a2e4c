/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * A group, of which only its manager is real: every call that this makes for a message is in the
 * text of log.h. In the group are a task that helps, two CPIs of a monitor (A and B, one lock), a
 * CPI that the task and A request (C), and one that this requests (D).
 */
#pragma once

#include "messages.h"
#include "../../../runtime/src/time/overrun.h"

#include <camkes/condition.h>
#include <camkes/label.h>
#include <camkes/timer_protocol_sel4.h>

enum { T, C0, C1, D0, A0, A1, B0, MEMBERS };
enum { IN_A, IN_B, EVENT, LATER, OTHER, OUTSIDE, WAITERS };
enum { OF_MEMBER = 1, OF_CALLER = OF_MEMBER + MEMBERS, OF_WAITER = OF_CALLER + MEMBERS };
enum { TIMER = OF_WAITER + WAITERS };

/* Some are at the end of what is allocated, so that what is read behind them is an error. */
static struct camkes_member *member;
static struct camkes_waiter *waiter;
static struct camkes_path *path;
static struct camkes_lender condition[2];
static struct camkes_group group;
static const uint16_t helpers[] = {T};

/* The managers of the members: who has a lock, the slot of a nested request, what is owed. */
static unsigned holder[MEMBERS], nested[MEMBERS];
static bool owes[MEMBERS];
static enum camkes_member_operation refused; /* 0: none */
static uint64_t now, fired;

static const char *name_of(enum camkes_member_operation operation)
{
    return operation == CAMKES_TAKE_LOCK      ? "take"
           : operation == CAMKES_GIVE_LOCK    ? "give"
           : operation == CAMKES_FREE_LOCK    ? "free"
           : operation == CAMKES_GRANTED      ? "granted"
           : operation == CAMKES_FIND_NESTED  ? "nested"
           : operation == CAMKES_SET_PRIORITY ? "priority"
           : operation == CAMKES_MEMBER_BEGIN ? "begin"
           : operation == CAMKES_MEMBER_END   ? "end"
                                              : "?";
}

/* The manager of a member: the lock word has the number of its holder among the lock's members. */
seL4_MessageInfo_t seL4_Call(seL4_CPtr manager, seL4_MessageInfo_t info)
{
    const seL4_Word given = seL4_MessageInfo_get_label(info);
    const enum camkes_member_operation operation =
        (enum camkes_member_operation)camkes_bits(given, 0, 4);
    unsigned i = 0, error = CAMKES_MESSAGE_GOOD;
    seL4_Word result = 0;
    while (i < MEMBERS && (member[i].manager != manager || member[i].index != seL4_GetMR(0))) {
        i++;
    }
    need(i < MEMBERS && seL4_MessageInfo_get_length(info) == 1, "a message to no member");
    need(seL4_MessageInfo_get_extraCaps(info) == 0 && seL4_MessageInfo_get_capsUnwrapped(info) == 0,
         "capabilities");
    note("%s %s %u for %u\n", member[i].name, name_of(operation),
         (unsigned)camkes_bits(given, 4, 8), (unsigned)camkes_bits(given, 12, 16));
    if (operation == refused) {
        return seL4_MessageInfo_new(CAMKES_MESSAGE_TOO_LONG, 0, 0, 1);
    }
    unsigned *const lock = &holder[member[i].lock == CAMKES_NO_MEMBER ? 0 : member[i].lock];
    if (operation == CAMKES_TAKE_LOCK) {
        result = *lock;
        *lock = *lock == 0 ? i - member[i].lock + 1u : *lock;
    } else if (operation == CAMKES_GIVE_LOCK) {
        *lock = i - member[i].lock + 1u;
        result = owes[i];
    } else if (operation == CAMKES_FREE_LOCK) {
        error = *lock == i - member[i].lock + 1u ? CAMKES_MESSAGE_GOOD : CAMKES_MESSAGE_OPERATION;
        *lock = error == CAMKES_MESSAGE_GOOD ? 0 : *lock;
    } else if (operation == CAMKES_SET_PRIORITY || operation == CAMKES_FIND_NESTED) {
        result = nested[i];
    } else {
        error = operation == CAMKES_GRANTED ? CAMKES_MESSAGE_GOOD : CAMKES_MESSAGE_LABEL;
    }
    seL4_SetMR(0, result);
    return seL4_MessageInfo_new(error, 0, 0, 1);
}

uint64_t camkes_platform_now(void)
{
    return now;
}

void camkes_platform_timer_arm(seL4_CPtr timer, uint64_t first, uint64_t period)
{
    need(timer == 9 && period == 0, "another timer");
    note("timer %lu\n", (unsigned long)first);
}

uint64_t camkes_platform_timer_expirations(seL4_CPtr timer)
{
    need(timer == 9, "another timer");
    return fired;
}

seL4_MessageInfo_t camkes_refuse_order(const struct camkes_thread *thread, seL4_Word badge,
                                       unsigned error)
{
    need(thread == &self && error != CAMKES_MESSAGE_GOOD && error < 255,
         "a good message is refused");
    (void)badge;
    return seL4_MessageInfo_new(error, 0, 0, 0);
}

void camkes_manager_failed(const char *name)
{
    note("%s failed\n", name);
    longjmp(next, 1);
}

static void of_waiter(unsigned i, enum camkes_waiter_operation operation, uint16_t index,
                      const char *wanted)
{
    message(OF_WAITER + i, camkes_waiter_label(operation, 0, index), wanted);
}

#define FRESH(array, ...)                                                                          \
    do {                                                                                           \
        const __typeof__(*(array)) values[] = {__VA_ARGS__};                                       \
        free(array);                                                                               \
        (array) = malloc(sizeof values);                                                           \
        memcpy((array), values, sizeof values);                                                    \
    } while (0)

static void begin(void)
{
    FRESH(member, [T] = {.name = "T", .context = 1, .lock = CAMKES_NO_MEMBER, .base = 10},
          [C0] = {.name = "C0", .context = 1, .lock = C0, .base = 10, .manager = 40},
          [C1] = {.name = "C1", .context = 3, .index = 1, .lock = C0, .base = 14, .manager = 40},
          [D0] = {.name = "D0", .context = 1, .lock = D0, .base = 10, .manager = 50},
          [A0] = {.name = "A0", .context = 2, .lock = A0, .base = 12, .manager = 60},
          [A1] = {.name = "A1", .context = 3, .index = 1, .lock = A0, .base = 14, .manager = 60},
          [B0] = {.name = "B0", .context = 4, .lock = A0, .base = 11, .manager = 70});
    member[T].manager = 30;
    for (unsigned i = 0; i < MEMBERS; i++) {
        member[i].effective = member[i].base;
        member[i].reply = 100 + i;
        member[i].holder = CAMKES_NO_MEMBER;
        holder[i] = nested[i] = 0;
        owes[i] = false;
    }
    FRESH(waiter, [IN_A] = {.thread = 5, .member = A0, .members = 2},
          [IN_B] = {.thread = 6, .member = B0, .members = 1},
          [EVENT] = {.condition = 1, .thread = 7, .origin = 4, .priority = 20},
          [LATER] = {.condition = 1, .thread = 8, .origin = 3, .priority = 20},
          [OTHER] = {.condition = 1, .thread = 9, .origin = 2, .priority = 20},
          [OUTSIDE] = {.thread = 10, .origin = 2, .priority = 20});
    for (unsigned i = 0; i < WAITERS; i++) {
        waiter[i].reply = 200 + i;
        if (i >= EVENT) {
            waiter[i].members = 1;
            waiter[i].member = CAMKES_NO_MEMBER;
        }
    }
    /* from the end of a chain to its beginning */
    FRESH(path, {C0, D0, 8}, {T, C0, 7}, {A1, C1, 6});
    condition[0] = (struct camkes_lender){
        .name = "changed", .id = 50, .in_monitor = true, .helpers = 1, .helper = helpers};
    condition[1] =
        (struct camkes_lender){.name = "event", .id = 51, .helpers = 1, .helper = helpers};
    group = (struct camkes_group){.manager = 1,
                                  .timer = 9,
                                  .member = member,
                                  .path = path,
                                  .condition = condition,
                                  .waiter = waiter,
                                  .members = MEMBERS,
                                  .paths = 3,
                                  .conditions = 2,
                                  .waiters = WAITERS,
                                  .arrivals = UINT32_MAX};
    now = fired = 0;
    cannot_save = seL4_NoError;
    self.start = camkes_manage_group;
    self.interface = &group;
    refused = 0;
}
