/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Virtual time. It passes where a thread consumes it and where nobody can run.
 *
 * A timer that is due at the instant at which a thread has had its processor time fires after that
 * thread stops for it to pass further: what a thread does in no time at the end of its work belongs
 * to the work.
 */
#include "kernel.h"

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void pass_until(uint64_t instant)
{
    if (instant != kernel->now) {
        kernel->now = instant;
        kernel->calls = 0;
    }
}

/* Whether there was something that happens at this instant; if so, somebody else may run now. */
static bool interrupt(struct thread *self)
{
    if (timer_fire_due()) {
        return true;
    }
    if (kernel->options.round_robin && self->slice == 0) {
        schedule_end_slice();
        return true;
    }
    return false;
}

void time_consume(struct thread *self, uint64_t ns)
{
    self->work = ns;
    while (self->work > 0) {
        if (interrupt(self)) {
            schedule();
            if (kernel->current != self) {
                kernel_go();
            }
            continue;
        }
        uint64_t step =
            earlier(self->work, earlier(kernel->options.until, timer_next()) - kernel->now);
        if (kernel->options.round_robin) {
            step = earlier(step, self->slice);
            self->slice -= step;
        }
        if (step == 0 || kernel->stop) {
            kernel_end(kernel->stop ? CAMKES_END_ABORT : CAMKES_END_TIME);
            kernel_go();
        }
        pass_until(kernel->now + step);
        self->work -= step;
    }
}

/*
 * The thread looks for something in memory that only somebody else can put there, and does so until
 * its time slice ends. False: nobody will, as nobody else can run, or all who do only look.
 */
bool time_poll(struct thread *self)
{
    bool vain = kernel->entries == kernel->last_poll + 1;
    kernel->last_poll = kernel->entries;
    kernel->vain_polls = vain ? kernel->vain_polls + 1 : 0;
    if (kernel->vain_polls > 2 * kernel->thread_count ||
        !(schedule_has_equal(self) || timer_next() < kernel->options.until)) {
        return false;
    }
    uint64_t slice = kernel->options.round_robin ? self->slice : kernel->options.timeslice;
    TRACE(WORK, self, NULL, slice);
    time_consume(self, slice);
    schedule_end_slice();
    return true;
}

/* Nobody can run: goes to the next instant at which something happens, or ends the run. */
void time_skip(void)
{
    if (timer_fire_due()) {
        return;
    }
    if (kernel->shown) {
        TRACE_PLAIN(IDLE, NULL, kernel->shown);
        kernel->shown = NULL;
    }
    uint64_t next = timer_next();
    if (next < kernel->options.until) {
        pass_until(next);
    } else if (next == UINT64_MAX) {
        kernel_end(CAMKES_END_IDLE);
    } else {
        pass_until(kernel->options.until);
        kernel_end(CAMKES_END_TIME);
    }
}

void camkes_host_work(uint64_t ns)
{
    struct thread *self = kernel_enter_quietly();
    TRACE(WORK, self, NULL, ns);
    time_consume(self, ns);
    kernel_leave(self);
}

void camkes_host_work_between(uint64_t lo, uint64_t hi)
{
    static const uint64_t STEPS = 1000; /* at most so many different durations */
    struct thread *self = kernel_enter_quietly();
    uint64_t range = hi > lo ? hi - lo : 0;
    uint64_t steps = earlier(range, STEPS);
    unsigned chosen = choose(CAMKES_CHOICE_DURATION, (unsigned)steps + 1);
    uint64_t ns = chosen == 0 ? (hi > lo ? hi : lo)
                              : hi - (uint64_t)((unsigned __int128)range * chosen / steps);
    TRACE(WORK, self, NULL, ns);
    time_consume(self, ns);
    kernel_leave(self);
}

uint64_t camkes_host_now(void)
{
    struct thread *self = kernel_enter_quietly();
    uint64_t now = kernel->now;
    kernel_leave(self);
    return now;
}

void camkes_host_point(void)
{
    struct thread *self = kernel_enter_quietly();
    bool equal = schedule_has_equal(self);
    unsigned chosen = choose(CAMKES_CHOICE_POINT, 1u + equal + timer_can_fire_early());
    if (chosen == 1 && equal) {
        schedule_end_slice();
    } else if (chosen != 0) {
        timer_fire_early();
    }
    kernel_leave(self);
}
