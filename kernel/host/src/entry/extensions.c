/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* What the host kernel has beyond seL4's API, see <camkes/host.h>. */
#include "entry/entry.h"
#include "objects/operations.h"
#include "record/output.h"
#include "scheduling/scheduling.h"
#include "state.h"

#include <camkes/host.h>

void camkes_host_work(uint64_t ns)
{
    struct thread *self = kernel_enter_quietly();
    TRACE(WORK, self, NULL, ns);
    work_consume(self, ns);
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

/* With --durations corners: a bound, or such that the work ends just before or after a timer fires
 * if nothing interrupts it. With --arrivals it makes no difference. */
static uint64_t corner_duration(uint64_t lo, uint64_t hi)
{
    enum { MOST = 16 };
    uint64_t ends[MOST] = {hi, lo};
    unsigned count = lo < hi ? 2 : 1;
    for (unsigned i = 0; i < kernel->heap_size && count + 2 <= MOST; i++) {
        const uint64_t due = kernel->heap[i]->timer.due;
        if (due > kernel->now + lo && due < kernel->now + hi) {
            ends[count++] = due - kernel->now;
            ends[count++] = due - kernel->now + 1;
        }
    }
    return ends[kernel->options.arrivals ? 0 : choose(CAMKES_CHOICE_DURATION, count)];
}

void camkes_host_work_between(uint64_t lo, uint64_t hi)
{
    struct thread *self = kernel_enter_quietly();
    hi = hi > lo ? hi : lo;
    const uint64_t ns = kernel->options.corners ? corner_duration(lo, hi) : any_duration(lo, hi);
    TRACE(WORK, self, NULL, ns);
    work_consume(self, ns);
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
