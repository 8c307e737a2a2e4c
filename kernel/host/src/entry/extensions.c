/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* What the host kernel has beyond seL4's API, see <camkes/host.h>. */
#include "entry/entry.h"
#include "time/budget.h"
#include "objects/operations.h"
#include "record/output.h"
#include "scheduling/scheduling.h"
#include "state.h"

#include <camkes/host.h>
#include <string.h>

enum { MOST_ENDS = 128 };

/* What follows in a search may depend on when the work ends. */
static void work(struct thread *self, uint64_t ns)
{
    TRACE(WORK, self, NULL, ns);
    work_consume(self, ns);
    if (hooks.worked && !kernel->options.arrivals) {
        hooks.worked(self);
    }
}

void camkes_host_work(uint64_t ns)
{
    struct thread *self = kernel_enter_quietly();
    work(self, ns);
    kernel_leave(self);
}

/* Any of at most so many different durations. */
static uint64_t any_duration(uint64_t lo, uint64_t hi)
{
    static const uint64_t STEPS = 1000;
    const uint64_t range = hi - lo, steps = range < STEPS ? range : STEPS;
    const unsigned chosen = choose(CAMKES_CHOICE_DURATION, (unsigned)steps + 1);
    return chosen == 0 ? hi : hi - (uint64_t)((unsigned __int128)range * chosen / steps);
}

/* Durations that are tried: the bounds, then others in the order of their lengths. */
static struct {
    uint64_t low, at[MOST_ENDS];
    unsigned count;
} ends;

static void add_end(uint64_t low, uint64_t high, uint64_t duration)
{
    unsigned place = ends.count;
    while (place > 2 && ends.at[place - 1] > duration) {
        place--;
    }
    const bool known = place > 2 && ends.at[place - 1] == duration;
    if (duration <= low || duration >= high || known || ends.count == MOST_ENDS) {
        return;
    }
    memmove(&ends.at[place + 1], &ends.at[place], (ends.count - place) * sizeof *ends.at);
    ends.at[place] = duration;
    ends.count++;
}

/* With those that end, or lead to an end of another work, just before or after one of the instants
 * from `first` on, every `period` (0: one). */
static void align_ends(const struct between *work, const uint64_t *offsets, unsigned count,
                       uint64_t first, uint64_t period)
{
    const uint64_t end = kernel->now + work->high + offsets[count - 1];
    for (uint64_t instant = first; instant < end && ends.count < MOST_ENDS; instant += period) {
        for (unsigned i = 0; i < count; i++) {
            if (instant > kernel->now + offsets[i]) {
                const uint64_t duration = instant - kernel->now - offsets[i];
                add_end(work->low, work->high, duration);
                add_end(work->low, work->high, duration + 1);
            }
        }
        if (period == 0) {
            break;
        }
    }
}

static void find_ends(const struct thread *self, const struct between *work)
{
    uint64_t offsets[MOST_OFFSETS_OF_WORK + 1] = {0};
    unsigned count = 1;
    if (hooks.offsets) {
        count += hooks.offsets(self, work, offsets + 1);
    }
    uint64_t *const longest = &offsets[count - 1];
    for (unsigned i = 0; i + 1 < count; i++) {
        if (offsets[i] > *longest) {
            const uint64_t other = offsets[i];
            offsets[i] = *longest;
            *longest = other;
        }
    }
    ends.low = work->low;
    ends.at[0] = work->high;
    ends.at[1] = work->low;
    ends.count = 2;
    for (unsigned i = 0; i < kernel->heap_size; i++) {
        const struct timer *timer = &kernel->heap[i]->timer;
        align_ends(work, offsets, count, timer->due, timer->period);
    }
    if (kernel->mcs && budget_next() != UINT64_MAX) {
        align_ends(work, offsets, count, budget_next(), 0);
    }
}

/* The number of one of the durations in a script. */
unsigned duration_number(unsigned chosen)
{
    return chosen < 2 ? chosen : (unsigned)(ends.at[chosen] - ends.low) + 1;
}

/* A script has the duration itself: 0 and 1 are the upper and the lower bound, N is N - 1 ns more
 * than that. */
static uint64_t duration_in_script(uint64_t low, uint64_t high)
{
    static const uint64_t MOST = UINT32_MAX;
    const unsigned options = (unsigned)(high - low < MOST ? high - low : MOST - 1) + 1;
    const unsigned number = choose(CAMKES_CHOICE_DURATION, options);
    return number == 0 ? high : low + number - 1;
}

/* With --durations corners, and in a search. With --arrivals it makes no difference. */
static uint64_t corner_duration(struct thread *self, uint64_t low, uint64_t high)
{
    if (low == high || kernel->options.arrivals) {
        return high;
    }
    if (kernel->options.choices == CHOICES_SCRIPT) {
        return duration_in_script(low, high);
    }
    struct between work = {.low = low, .high = high};
    find_ends(self, &work);
    const unsigned option = choose(CAMKES_CHOICE_DURATION, ends.count);
    find_ends(self, &work); /* a search has come back to this state */
    const uint64_t chosen = ends.at[option];
    if (hooks.offsets && self->between_count < MOST_BETWEEN) {
        work.end = kernel->now + chosen;
        self->between[self->between_count++] = work;
    }
    return chosen;
}

void camkes_host_work_between(uint64_t lo, uint64_t hi)
{
    struct thread *self = kernel_enter_quietly();
    hi = hi > lo ? hi : lo;
    work(self, kernel->options.corners ? corner_duration(self, lo, hi) : any_duration(lo, hi));
    kernel_leave(self);
}

uint64_t camkes_host_now(void)
{
    struct thread *self = kernel_enter_quietly();
    uint64_t now = kernel->now;
    kernel_leave_quietly(self);
    return now;
}

void camkes_host_point(void)
{
    struct thread *self = kernel_enter_quietly();
    if (kernel->options.arrivals) {
        kernel_point(self);
        kernel_leave(self);
        return;
    }
    bool may_end = !kernel->options.corners || kernel->options.round_robin;
    bool equal = may_end && ready_has_equal(self);
    unsigned chosen = choose(CAMKES_CHOICE_POINT, 1u + equal + timer_can_fire_early());
    if (chosen == 1 && equal) {
        ready_end_slice();
    } else if (chosen != 0) {
        timer_fire_early();
    }
    kernel_leave(self);
}

int camkes_host_input(enum camkes_input from, size_t place)
{
    struct thread *self = kernel_enter_quietly();
    int byte = -1;
    if (from < CAMKES_INPUTS && place < kernel->inputs[from].length) {
        byte = (unsigned char)kernel->inputs[from].text[place];
    }
    kernel_leave_quietly(self);
    return byte;
}

void camkes_host_send(const void *bytes, size_t n)
{
    char copy[CAMKES_SENT_AT_ONCE];
    n = n < sizeof copy ? n : sizeof copy;
    memcpy(copy, bytes, n); /* may fault, so not in the kernel */
    struct thread *self = kernel_enter_quietly();
    if (kernel->network_file >= 0 && !hooks.choose) {
        stream_put(&kernel->network, copy, n);
    }
    kernel_leave_quietly(self);
}

static struct object *find_timer(struct thread *self, seL4_CPtr slot)
{
    struct cap *cap = cap_find(self, slot);
    if (cap && cap->kind == OBJECT_TIMER) {
        return cap->object;
    }
    cap_note(self, "no timer behind this capability", slot);
    return NULL;
}

void camkes_host_timer_arm(seL4_CPtr slot, uint64_t first, uint64_t period)
{
    struct thread *self = kernel_enter(CAMKES_KCALL_TIMER, slot);
    struct object *object = find_timer(self, slot);
    if (object && object->timer.notification) {
        timer_arm(object, first, period);
    }
    kernel_leave(self);
}

uint64_t camkes_host_timer_expirations(seL4_CPtr slot)
{
    struct thread *self = kernel_enter_quietly();
    struct object *object = find_timer(self, slot);
    uint64_t expirations = object ? object->timer.expirations : 0;
    kernel_leave_quietly(self);
    return expirations;
}
