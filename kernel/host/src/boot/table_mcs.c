/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The lines of a boot table that only an MCS kernel has. */
#include "time/budget.h"
#include "boot/fields.h"
#include "isolation/memory.h"

#include <inttypes.h>
#include <string.h>

/* NAME scheduling-context BITS: as many refills as fit behind what seL4 keeps in one of that size.
 */
void table_read_context(const struct line *line, struct object *object)
{
    enum { LEAST = 7, MOST = 20, OTHER = 96 };
    const uint64_t bits = field_number(line, 3, MOST);
    if (bits < LEAST) {
        field_bad(line, "a scheduling context has at least 2^%d bytes", LEAST);
    }
    object->context = memory_take(sizeof *object->context);
    object->context->room = (unsigned)((((size_t)1 << bits) - OTHER) / sizeof(struct refill));
    object->context->refills = memory_take(object->context->room * sizeof(struct refill));
}

static struct object *find_context(const struct line *line, unsigned field)
{
    return field_object_of(line, field, OBJECT_CONTEXT, "scheduling-context");
}

static struct thread *find_thread(const struct line *line, unsigned field)
{
    struct thread *thread = field_object_of(line, field, OBJECT_TCB, "tcb")->thread;
    if (!thread) {
        field_bad(line, "the line of the thread %s has to come before", line->fields[field]);
    }
    return thread;
}

/* From here on all threads are without time until they are given some. Budgets are time slices. */
static void read_mcs(const struct line *line)
{
    field_expect(line, 0, 0);
    kernel->mcs = true;
    kernel->options.round_robin = false;
}

/* CONTEXT TCB|- BUDGET PERIOD REFILLS BADGE sporadic|constant */
static void read_time(const struct line *line)
{
    field_expect(line, 7, 7);
    struct object *object = find_context(line, 1);
    const bool sporadic = strcmp(line->fields[7], "sporadic") == 0;
    const struct context wanted = {
        .budget = field_number(line, 3, UINT64_MAX / 8),
        .period = field_number(line, 4, UINT64_MAX / 8),
        .most = (unsigned)field_number(line, 5, object->context->room),
        .badge = field_number(line, 6, UINT64_MAX),
        .sporadic = sporadic,
    };
    if (wanted.budget == 0 || wanted.budget > wanted.period || wanted.most < 2) {
        field_bad(line, "a budget is more than 0 and at most the period, refills are at least 2");
    }
    if (wanted.budget < kernel->options.shortest) {
        field_bad(line, "no budget is shorter than %" PRIu64 " ns (--least-budget)",
                  kernel->options.shortest);
    }
    if (!sporadic && strcmp(line->fields[7], "constant") != 0) {
        field_bad(line, "`%s` is not a kind of server; they are sporadic, constant",
                  line->fields[7]);
    }
    budget_configure(object, &wanted);
    if (strcmp(line->fields[2], "-") != 0) {
        struct thread *thread = find_thread(line, 2);
        if (thread->context || object->context->thread) {
            field_bad(line, "a thread has one scheduling context, and that is its own");
        }
        budget_bind(object, thread, NULL);
    }
}

/* TCB ENDPOINT RIGHTS BADGE */
static struct cap read_handler(const struct line *line)
{
    field_expect(line, 4, 4);
    return (struct cap){.kind = OBJECT_ENDPOINT,
                        .rights = field_rights(line, 3),
                        .badge = field_number(line, 4, UINT64_MAX),
                        .object = field_object_of(line, 2, OBJECT_ENDPOINT, "endpoint")};
}

/* NOTIFICATION CONTEXT */
static void read_binding(const struct line *line)
{
    field_expect(line, 2, 2);
    struct object *notification = field_object_of(line, 1, OBJECT_NOTIFICATION, "notification");
    struct object *context = find_context(line, 2);
    notification->notification.context = context;
    context->context->notification = notification;
}

/* False: it is another line. */
bool table_read_time(const struct line *line)
{
    if (field_is(line, "mcs")) {
        read_mcs(line);
    } else if (!kernel->mcs) {
        return false;
    } else if (field_is(line, "time")) {
        read_time(line);
    } else if (field_is(line, "fault")) {
        find_thread(line, 1)->fault_cap = read_handler(line);
    } else if (field_is(line, "timeout")) {
        find_thread(line, 1)->timeout_cap = read_handler(line);
    } else if (field_is(line, "bind")) {
        read_binding(line);
    } else {
        return false;
    }
    return true;
}
