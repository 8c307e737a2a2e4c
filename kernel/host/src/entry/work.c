/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Processor time that threads use: virtual time passes with it.
 *
 * A timer that is due at the instant at which a thread has had its processor time fires after that
 * thread stops for it to pass further: what a thread does in no time at the end of its work belongs
 * to the work.
 */
#include "time/budget.h"
#include "entry/entry.h"
#include "record/output.h"
#include "scheduling/scheduling.h"
#include "state.h"

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Whether there was something that happens at this instant; if so, another thread may run now. */
static bool interrupt(struct thread *self)
{
    if (kernel->mcs && budget_is_spent()) {
        timeout_end_slice(self, true);
        domain_switch_due();
        return true;
    }
    if (clock_wake_due()) {
        return true;
    }
    if (kernel->options.round_robin && self->slice == 0) {
        ready_end_slice();
        return true;
    }
    return false;
}

/* Lets what is due at this instant happen, and others run. Whether there was something. */
static bool give_way(struct thread *self)
{
    if (!interrupt(self)) {
        return false;
    }
    schedule();
    if (kernel->current != self) {
        kernel_go();
    }
    return true;
}

/* With --arrivals: when it is preempted and by whom is chosen, how long it works makes no
 * difference. A search stays at one instant. What follows until the next point is seen by no other
 * thread, so work is not a point itself. */
static void work_at_once(struct thread *self, uint64_t ns)
{
    if (kernel->options.every_point) {
        kernel_point(self);
    }
    if (!hooks.choose) {
        clock_pass_to(kernel->now + ns);
    }
}

void work_consume(struct thread *self, uint64_t ns)
{
    if (kernel->options.arrivals) {
        work_at_once(self, ns);
        return;
    }
    self->work = ns;
    while (self->work > 0) {
        if (give_way(self)) {
            continue;
        }
        uint64_t step =
            earlier(self->work, earlier(kernel->options.until, clock_next()) - kernel->now);
        if (kernel->options.round_robin) {
            step = earlier(step, self->slice);
            self->slice -= step;
        }
        if (kernel->mcs) {
            step = earlier(step, budget_left());
            kernel->consumed += step;
        }
        if (step == 0 || kernel->stop) {
            clock_end(kernel->stop ? CAMKES_END_ABORT : CAMKES_END_TIME);
            kernel_go();
        }
        clock_pass_to(kernel->now + step);
        self->work -= step;
    }
}

/*
 * The thread makes operations as if it always will, which all take no time: it has the rest of its
 * slot, as a loop has whose domain alone limits it.
 */
void work_fill_slot(struct thread *self)
{
    const uint64_t rest = kernel->slot_end - kernel->now;
    TRACE(FILLED, self, NULL, rest);
    work_consume(self, rest);
    if (kernel->now >= kernel->options.until) {
        clock_end(CAMKES_END_TIME);
        kernel_go();
    }
    while (give_way(self)) { /* the end of the slot is the end of this work too */
    }
}

/*
 * The thread looks for something in memory that only another thread can put there, and does so
 * until its time slice ends. False: none will, as no other thread can run, or all that can only
 * look.
 */
bool work_poll(struct thread *self)
{
    bool vain = kernel->entries == kernel->last_poll + 1;
    kernel->last_poll = kernel->entries;
    kernel->vain_polls = vain ? kernel->vain_polls + 1 : 0;
    if (kernel->vain_polls > 2 * kernel->thread_count ||
        !(ready_has_equal(self) || clock_next() < kernel->options.until)) {
        return false;
    }
    uint64_t slice = kernel->options.round_robin ? self->slice : kernel->options.timeslice;
    if (kernel->slot_count && !ready_has_equal(self)) {
        slice = kernel->slot_end - kernel->now;
    }
    TRACE(WORK, self, NULL, slice);
    work_consume(self, slice);
    ready_end_slice();
    return true;
}
