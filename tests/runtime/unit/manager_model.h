/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The manager of a CPI with three contexts; all that it calls is in the text of log.h. */
#pragma once

#include "../../../runtime/src/core/nested.h"
#include "../../../runtime/src/time/overrun.h"
#include "../../../runtime/src/core/queue.h"
#include "messages.h"

enum { LOW, MID, HIGH, CONTEXTS };
enum { OF_WORKER = 1, OF_CALLER = OF_WORKER + CONTEXTS, OF_NONE = OF_CALLER + CONTEXTS };
enum { WAKE = 8, NESTED = 77 };

static struct camkes_thread threads[CONTEXTS] = {
    {.name = "a", .tcb = 10, .number = 5},
    {.name = "b", .tcb = 11, .number = 6},
    {.name = "c", .tcb = 12, .number = 7},
};
static struct camkes_thread *const pool[CONTEXTS] = {&threads[2], &threads[0], &threads[1]};
static struct camkes_context contexts[CONTEXTS];
static const struct camkes_caller callers[CONTEXTS] = {
    {.context = LOW, .base = 10, .bound = 20, .sender_id = 501},
    {.context = MID, .base = 20, .bound = 30, .sender_id = 502},
    {.context = HIGH, .base = 30, .bound = 40, .sender_id = 503},
};
static const struct camkes_place place;
static struct camkes_cpi cpi;
static seL4_Error refused;

seL4_Error seL4_TCB_SetPriority(seL4_TCB tcb, seL4_CPtr authority, seL4_Word priority)
{
    need(authority == 2, "another authority");
    if (refused == seL4_NoError) {
        note("priority of %u: %u\n", (unsigned)tcb, (unsigned)priority);
    }
    return refused;
}

seL4_MessageInfo_t camkes_refuse(const struct camkes_place *at, seL4_Word badge, seL4_Word sender,
                                 unsigned error)
{
    need(at == &place, "another place");
    note("refuse %u from %u: %u\n", (unsigned)badge, (unsigned)sender, error);
    return seL4_MessageInfo_new(error, 0, 0, 0);
}

void camkes_nested_push(struct camkes_context *context)
{
    note("push %u\n", context->id);
}

void camkes_nested_lower(struct camkes_context *context)
{
    note("lower %u\n", context->id);
}

seL4_CPtr camkes_nested_found(struct camkes_context *context)
{
    note("nested %u\n", context->id);
    return NESTED;
}

static void note_lock(void)
{
    const uintptr_t word = atomic_load(camkes_lock_of(&cpi));
    note("%u%s%s%s", (unsigned)camkes_held_by(camkes_lock_of(&cpi)),
         (word & CAMKES_WAITERS) != 0 ? " waiters" : "",
         (word & CAMKES_MANAGER_WAITS) != 0 ? " manager" : "",
         (word & CAMKES_RELEASED) != 0 ? " released" : "");
}

/* What a context has, and which of them wait. */
static void state(const char *wanted)
{
    note_lock();
    for (unsigned i = 0; i < CONTEXTS; i++) {
        const struct camkes_context *c = &contexts[i];
        note("; %u %u %u%s for %u", c->base, c->request, atomic_load(&c->effective),
             camkes_waits(c) ? " waits" : "", atomic_load(&c->cause));
#if CAMKES_MCS
        note("%s", atomic_load(&c->paid) ? " pays" : "");
#endif
    }
    need_done(wanted);
}

static void begin(bool pooled)
{
    for (unsigned i = 0; i < CONTEXTS; i++) {
        const uint8_t base = (uint8_t)(10 * (i + 1));
        contexts[i] = (struct camkes_context){.id = (uint16_t)(60 + i),
                                              .held = i + 1,
                                              .base = base,
                                              .request = base,
                                              .effective = base,
                                              .cause = (uint16_t)(60 + i),
                                              .reply = 100 + i,
                                              .worker = pooled ? NULL : &threads[i]};
        threads[i].cpi = &cpi;
        threads[i].context = &contexts[i];
    }
    cpi = (struct camkes_cpi){.name = "cpi",
                              .place = &place,
                              .id = 9,
                              .ceiling = 40,
                              .pooled = pooled,
                              .contexts = CONTEXTS,
                              .callers = CONTEXTS,
                              .context = contexts,
                              .caller = callers,
                              .manager = 1,
                              .authority = 2,
                              .pool = pool,
                              .threads = pooled ? CONTEXTS : 0};
    self = (struct camkes_thread){.name = "manager", .cpi = &cpi, .start = camkes_manage_cpi};
#if CAMKES_MCS
    self.reply = 90;
#endif
    cannot_save = refused = seL4_NoError;
    length = 0;
}

static void of_worker(unsigned i, enum camkes_worker_operation operation, const char *wanted)
{
    message(OF_WORKER + i, camkes_worker_label(operation, 0, 0), wanted);
}

static void of_caller(unsigned i, enum camkes_caller_operation operation, uint8_t priority,
                      uint16_t cause, const char *wanted)
{
    message(OF_CALLER + i, camkes_caller_label(operation, priority, cause), wanted);
}

/* From the manager of the group that it is a member of. */
static void of_group(unsigned i, enum camkes_member_operation operation, uint8_t priority,
                     uint16_t detail, const char *wanted)
{
    self.start = camkes_manage_member;
    length = 1;
    word[0] = i;
    message(OF_WORKER, camkes_member_label(operation, priority, detail), wanted);
}

#if CAMKES_MCS

seL4_MessageInfo_t seL4_Wait(seL4_CPtr slot, seL4_Word *badge)
{
    (void)slot, (void)badge;
    need(false, "a manager waits for a signal");
    return seL4_MessageInfo_new(0, 0, 0, 0);
}

/* What they do is in other tests. */
static bool has_lent, owes;
static struct camkes_context *is_home;

struct camkes_context *camkes_overrun_message(struct camkes_cpi *of, seL4_Word badge,
                                              seL4_MessageInfo_t info)
{
    need(of == &cpi, "another CPI");
    note("timeout %u %u\n", (unsigned)badge, (unsigned)seL4_MessageInfo_get_label(info));
    return is_home;
}

void camkes_overrun_lend(struct camkes_cpi *of, struct camkes_context *context)
{
    need(of == &cpi && !camkes_waits(context), "it waits already");
    note("lend %u\n", context->id);
}

void camkes_overrun_queue(struct camkes_cpi *of, struct camkes_context *context)
{
    need(of == &cpi, "another CPI");
    context->rank = 1;
    note("queue %u\n", context->id);
}

void camkes_overrun_wait(struct camkes_cpi *of, struct camkes_context *holder,
                         struct camkes_context *context)
{
    need(of == &cpi && camkes_waits(context), "it does not wait yet");
    note("%u waits for %u\n", context->id, holder->id);
}

void camkes_overrun_raised(struct camkes_cpi *of, struct camkes_context *context, uint8_t priority,
                           uint16_t cause)
{
    need(of == &cpi, "another CPI");
    note("raised %u: %u for %u\n", context->id, priority, cause);
}

void camkes_overrun_tell(struct camkes_cpi *of, struct camkes_context *context,
                         const struct camkes_context *waiter)
{
    need(of == &cpi, "another CPI");
    note("tell %u of %u\n", context->id, waiter->id);
}

void camkes_overrun_tell_all(struct camkes_cpi *of, struct camkes_context *context)
{
    need(of == &cpi, "another CPI");
    note("tell %u of all\n", context->id);
}

bool camkes_overrun_leave(struct camkes_cpi *of, struct camkes_context *context)
{
    need(of == &cpi, "another CPI");
    note("leave %u\n", context->id);
    return has_lent;
}

void camkes_overrun_home(struct camkes_cpi *of, const struct camkes_context *context)
{
    need(of == &cpi, "another CPI");
    note("home %u\n", context->id);
}

bool camkes_overrun_give(struct camkes_cpi *of, struct camkes_context *context)
{
    need(of == &cpi, "another CPI");
    note("give %u\n", context->id);
    return owes;
}

void camkes_overrun_granted(struct camkes_cpi *of, const struct camkes_context *context)
{
    need(of == &cpi, "another CPI");
    note("granted %u\n", context->id);
}

#endif
