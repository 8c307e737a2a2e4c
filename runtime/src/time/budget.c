/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * The handler of the overruns of a task, when its control thread has used up the budget of the
 * task. `extend`: it goes on with the extension, and gets the task's own scheduling context back at
 * the end of the job. `raise`: it goes on with the budget of a raised criticality. `stop`: the job
 * ends, and run() begins again at the next release.
 */
#include "../core/nested.h"

#include <camkes/task.h>

#if defined(CONFIG_KERNEL_MCS)

static bool bind(const struct camkes_budget *budget, seL4_CPtr time)
{
    return seL4_SchedContext_Bind(time, budget->control->tcb) == seL4_NoError;
}

/* The thread is blocked, so Bind says whether there is budget. Returns whether the message was
 * answered: a thread that is to wait for its refill must not be blocked when it gets its context.
 */
static bool give(const struct camkes_budget *budget, seL4_CPtr first, seL4_CPtr second)
{
    if (bind(budget, first)) {
        return false;
    }
    if (second != 0 && bind(budget, second)) {
        budget->task->extended = second == budget->extension;
        return false;
    }
    budget->task->extended = false;
    camkes_platform_reply(seL4_MessageInfo_new(0, 0, 0, 0));
    camkes_must(seL4_SchedContext_Bind(budget->time, budget->control->tcb));
    return true;
}

/* Microseconds: the kernel counts a refill with less than this as used up. */
static const uint64_t LEAST = 20;
/* Of a budget that is used up: what a job uses before its count begins, and what is lost where each
 * part of the budget is rounded. */
static const uint64_t NOT_COUNTED = 20;

/*
 * Whether the job has used up its budget, and not only a part of it that was refilled by itself. If
 * a request has come back without budget, the manager of its CPI knows what was used there.
 */
static bool overran(const struct camkes_budget *budget)
{
    budget->task->used += seL4_GetMR(seL4_Timeout_Consumed);
    const bool all = budget->task->used + LEAST + NOT_COUNTED > budget->size[camkes_level()];
    return camkes_platform_keep_reply(budget->control) || all;
}

/* Of the control thread after a job that was stopped. */
static void begin_again(void)
{
    struct camkes_thread *self = camkes_self();
    camkes_request_abandoned(); /* it may have been about to make one, or back from it */
    self->task->budget->again(self);
    camkes_platform_end_thread();
}

/* There is nothing to answer then. */
static void stop(const struct camkes_budget *budget)
{
    struct camkes_task *const task = budget->task;
    const uint64_t job = task->next - 1;
    CAMKES_TRACE_ABOUT(JOB_STOP, budget->control->number, job, camkes_release_time(task, job));
    task->in_job = false;
    task->claimed = false;
    camkes_platform_restart(budget->control, begin_again);
    /* it waits for the refill */
    camkes_must(seL4_SchedContext_Bind(budget->time, budget->control->tcb));
}

static bool serve(const struct camkes_budget *budget, seL4_MessageInfo_t info)
{
    struct camkes_task *const task = budget->task;
    const bool fault = seL4_MessageInfo_get_label(info) == seL4_Fault_Timeout;
    const bool over = fault && overran(budget);
    const seL4_CPtr current = task->extended ? budget->extension : budget->time;
    camkes_must(seL4_SchedContext_UnbindObject(current, budget->control->tcb));
    if (over && budget->again != NULL) {
        if (bind(budget, budget->time)) {
            return false;
        }
        stop(budget);
        return true;
    }
    if (over && budget->raise != 0) {
        camkes_ask_manager(budget->raise, 0, "the time");
    }
    if (!fault) { /* the end of a job */
        task->extended = false;
        return give(budget, budget->time, 0);
    }
    return give(budget, current, task->extended ? budget->time : over ? budget->extension : 0);
}

void camkes_handle_overruns(struct camkes_thread *self)
{
    const struct camkes_budget *budget = self->interface;
    seL4_Word badge = 0;
    seL4_MessageInfo_t info = camkes_platform_receive(budget->manager, &badge);
    for (;;) {
        info = serve(budget, info) ? camkes_platform_receive(budget->manager, &badge)
                                   : camkes_platform_reply_receive(
                                         budget->manager, seL4_MessageInfo_new(0, 0, 0, 0), &badge);
    }
}

#endif
