/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Records of components in the trace. Reports of components, and what a search finds, are made of
 * the trace; so a component writes only what its own runtime can: kinds of the runtime, with as
 * many arguments as they have, about what the boot table lists for its address space.
 */
#include "entry/entry.h"
#include "isolation/faults.h"
#include "objects/operations.h"
#include "record/output.h"

#include <camkes/host.h>

enum { MOST = 5 };

/*
 * Of each kind: the other thread, then an argument a letter.
 *
 *     -  none                               c  a context              b  a badge that comes here
 *     o  one of the same address space      C  the same, or none      j  a job, at most the next
 *     t  the control thread of a task there k  a task, or none        J  a job that has begun
 *     w  one that waits for a condition     d  a condition            p  a priority
 *     q  a CPI that is served               l  a criticality          t  a time
 *     r  a CPI that is requested            u  a context with turns   n  a number of 16 bits
 *     s  a slot with a notification for the component's own use       x  any number
 */
static const char *const FORMATS[] = {
    [CAMKES_TRACE_JOB_BEGIN] = "-jt",
    [CAMKES_TRACE_JOB_END] = "-Jt",
    [CAMKES_TRACE_CALL_BEGIN] = "-rCp",
    [CAMKES_TRACE_CALL_END] = "-rC",
    [CAMKES_TRACE_REQUEST_BEGIN] = "-qcpkx",
    [CAMKES_TRACE_REQUEST_END] = "-qc",
    [CAMKES_TRACE_LOCK_TAKE] = "-qc",
    [CAMKES_TRACE_LOCK_WAIT] = "oqcp",
    [CAMKES_TRACE_LOCK_GRANT] = "oqc",
    [CAMKES_TRACE_LOCK_FREE] = "-qc",
    [CAMKES_TRACE_INHERIT] = "-qcppn",
    [CAMKES_TRACE_UPDATE] = "-qcp",
    [CAMKES_TRACE_CLEAR] = "-qc",
    [CAMKES_TRACE_REFUSED] = "-bn",
    [CAMKES_TRACE_COND_WAIT] = "wdCp",
    [CAMKES_TRACE_COND_WAKE] = "wdC",
    [CAMKES_TRACE_LEND] = "ocppn",
    [CAMKES_TRACE_COND_EXPIRE] = "wdC",
    [CAMKES_TRACE_CRITICALITY] = "-lk",
    [CAMKES_TRACE_JOB_LEFT_OUT] = "-j",
    [CAMKES_TRACE_JOB_STOP] = "tJt",
    [CAMKES_TRACE_TURN] = "-upx",
    [CAMKES_TRACE_SYNC_TAKE] = "-s",
    [CAMKES_TRACE_SYNC_POST] = "-s",
    [CAMKES_TRACE_STARTED] = "-n",
    [CAMKES_TRACE_METHOD] = "-qn",
};

static bool is_about(const struct space *space, enum about what, uint64_t id)
{
    const struct ids *ids = &space->about[what];
    return id < ids->count && ids->bits[id / 64] >> id % 64 & 1;
}

/* Whether messages with a badge can come to an endpoint that a space receives from. */
static bool can_come(const struct space *to, const struct cap *cap, uint64_t badge)
{
    if (cap->kind != OBJECT_ENDPOINT || cap->badge != badge || !(cap->rights & RIGHT_WRITE)) {
        return false;
    }
    for (seL4_Word slot = 0; slot < to->slot_count; slot++) {
        if (to->slots[slot].object == cap->object && to->slots[slot].rights & RIGHT_READ) {
            return true;
        }
    }
    return false;
}

static bool is_badge(const struct space *to, uint64_t badge)
{
    for (unsigned i = 0; i < kernel->space_count; i++) {
        const struct space *from = &kernel->spaces[i];
        for (seL4_Word slot = 0; slot < from->slot_count; slot++) {
            if (can_come(to, &from->slots[slot], badge)) {
                return true;
            }
        }
    }
    for (unsigned i = 0; i < kernel->thread_count; i++) {
        const struct thread *thread = &kernel->threads[i];
        if (can_come(to, &thread->fault_cap, badge) || can_come(to, &thread->timeout_cap, badge)) {
            return true;
        }
    }
    return false;
}

static bool other_is_good(const struct space *space, char what, const struct thread *other)
{
    switch (what) {
    case 'o':
        return other && other->space == space;
    case 't':
        return other && other->space == space && other->task != NONE;
    case 'w':
        return other && is_about(space, ABOUT_WAITERS, other->number);
    default:
        return !other;
    }
}

static bool is_good(const struct space *space, char what, const struct thread *job, uint64_t value)
{
    switch (what) {
    case 'q':
        return is_about(space, ABOUT_SERVES, value);
    case 'r':
        return is_about(space, ABOUT_REQUESTS, value);
    case 'C':
        return value == NONE || is_about(space, ABOUT_CONTEXTS, value);
    case 'c':
        return is_about(space, ABOUT_CONTEXTS, value);
    case 'k':
        return value == NONE || is_about(space, ABOUT_TASKS, value);
    case 'd':
        return is_about(space, ABOUT_CONDITIONS, value);
    case 'l':
        return is_about(space, ABOUT_LEVELS, value);
    case 'u':
        return is_about(space, ABOUT_TURNS, value);
    case 's':
        return value < space->slot_count && space->slots[value].kind == OBJECT_NOTIFICATION &&
               (space->slots[value].rights & (RIGHT_READ | RIGHT_WRITE)) ==
                   (RIGHT_READ | RIGHT_WRITE);
    case 'b':
        return is_badge(space, value);
    case 'j':
        return job->task != NONE && value <= job->jobs;
    case 'J':
        return job->task != NONE && value < job->jobs;
    case 'p':
        return value <= seL4_MaxPrio;
    case 't':
        return value <= UINT64_MAX / 2;
    case 'n':
        return value <= UINT16_MAX;
    default:
        return true;
    }
}

/* Whether a record of a thread is one that its runtime writes. */
static bool is_own(const struct thread *self, uint16_t kind, uint16_t number, unsigned n,
                   const uint64_t *args)
{
    const char *format = kind < sizeof FORMATS / sizeof *FORMATS ? FORMATS[kind] : NULL;
    if (!format || (number != NONE && number >= kernel->thread_count)) {
        return false;
    }
    const struct thread *other = number == NONE ? NULL : &kernel->threads[number];
    if (!other_is_good(self->space, format[0], other)) {
        return false;
    }
    unsigned i = 0;
    while (i < n && format[i + 1] &&
           is_good(self->space, format[i + 1], other ? other : self, args[i])) {
        i++;
    }
    return i == n && !format[n + 1];
}

/* Components know their slots; a record has the number of the object. */
static void name_objects(const struct space *space, uint16_t kind, unsigned n, uint64_t *args)
{
    for (unsigned i = 0; i < n; i++) {
        if (FORMATS[kind][i + 1] == 's') {
            args[i] = space->slots[args[i]].object->number;
        }
    }
}

static void refuse(struct thread *self, uint16_t kind)
{
    self->fault = (struct fault){.kind = CAMKES_FAULT_RECORD, .address = kind};
    fault_fill_exception(&self->fault);
    backtrace_take(self, 0, false);
    locate(self, self->called_from, (uint64_t)(uintptr_t)__builtin_frame_address(0));
    fault_raise(self);
    kernel_leave(self);
}

void camkes_host_annotate(uint16_t kind, uint16_t other, unsigned n, const uint64_t *args)
{
    if (!kernel->traced) {
        return;
    }
    uint64_t copy[MOST] = {0};
    for (unsigned i = 0; i < n && i < MOST; i++) {
        copy[i] = args[i]; /* may fault, so not in the kernel */
    }
    struct thread *self = kernel_enter_quietly();
    CALLED_FROM(self);
    if (!is_own(self, kind, other, n, copy)) {
        refuse(self, kind);
        return;
    }
    if ((kind == CAMKES_TRACE_JOB_BEGIN || kind == CAMKES_TRACE_JOB_LEFT_OUT) &&
        copy[0] == self->jobs) {
        self->jobs++;
    }
    name_objects(self->space, kind, n, copy);
    trace_write(kind, self, other == NONE ? NULL : &kernel->threads[other], n, copy);
    kernel_leave_quietly(self);
}
