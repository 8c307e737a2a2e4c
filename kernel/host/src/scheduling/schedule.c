/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Who runs next. As in seL4, a thread that is woken may be switched to directly. */
#include "time/budget.h"
#include "scheduling/scheduling.h"
#include "state.h"

static void choose_thread(void)
{
    const int priority = ready_highest();
    if (priority < 0) {
        kernel->current = NULL;
        return;
    }
    const bool start = kernel->options.arrivals && !kernel->options.every_point &&
                       ready_start((unsigned)priority); /* in one order, see arrivals.c */
    const unsigned ties = start ? 1 : ready_count((unsigned)priority);
    kernel->current = ready_take((unsigned)priority, choose(CAMKES_CHOICE_TIE, ties));
}

static bool can_go_on(void)
{
    const struct thread *current = kernel->current;
    return current && current->state == THREAD_RUNNING && !current->timeless;
}

static void decide(void)
{
    struct thread *current = kernel->current;
    const bool runnable = can_go_on();
    if (kernel->action == ACTION_CHOOSE && current && !runnable && kernel->now > 0) {
        clock_wake_due(); /* a thread whose work is done makes way to all who are released now */
    }
    struct thread *candidate = kernel->candidate;
    if (runnable) {
        ready_prepend(current);
    }
    if (kernel->action == ACTION_CHOOSE) {
        choose_thread();
    } else if ((!current || candidate->priority < current->priority) &&
               candidate->priority < ready_highest()) {
        ready_prepend(candidate);
        choose_thread();
    } else if (runnable && candidate->priority == current->priority) {
        ready_append(candidate);
        choose_thread();
    } else {
        kernel->current = candidate;
    }
    kernel->action = ACTION_RESUME;
    kernel->candidate = NULL;
}

/* On an MCS kernel a thread that cannot go on is found here, and one that was chosen may have come
 * to the end of its budget. */
static __attribute__((noinline)) void schedule_budgets(void)
{
    do {
        if (kernel->action == ACTION_RESUME && !can_go_on()) {
            kernel->action = ACTION_CHOOSE;
        }
        if (kernel->action != ACTION_RESUME) {
            decide();
        }
    } while (timeout_settle());
}

/* Decides kernel->current. */
void schedule(void)
{
    if (kernel->mcs) {
        schedule_budgets();
    } else if (kernel->action != ACTION_RESUME) {
        decide();
    }
}
