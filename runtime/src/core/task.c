/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Jobs of tasks, and functions for component code about the work of the running thread. */
#include "managers.h"

#include <camkes/realtime.h>
#include <camkes/request.h>
#include <camkes/scheduler.h>
#include <camkes/task.h>
#include <camkes/timer_protocol_sel4.h>

static bool by_event(const struct camkes_task *task)
{
    return task->timer == 0;
}

/* The component does not see when an event came before it waited. */
uint64_t camkes_release_time(const struct camkes_task *task, uint64_t job)
{
    return by_event(task) ? task->begun : task->offset + job * task->period;
}

/* The priority of the thread becomes that of its next job, or that at which it waits for it. */
static void ask_scheduler(const struct camkes_task *task, enum camkes_job_operation operation,
                          uint64_t deadline)
{
    if (task->scheduler != 0) {
        camkes_timer_set_message_time(0, deadline);
        camkes_must_grant(
            camkes_call_manager(task->scheduler, camkes_job_label(operation, 0, 0), 2), "its band");
    }
}

static void end_job(struct camkes_task *task)
{
    if (task->in_job) {
        const uint64_t job = task->next - 1;
        task->in_job = false;
        CAMKES_TRACE(JOB_END, job, camkes_release_time(task, job));
        if (task->extended) { /* the next job begins with the budget of the task */
            camkes_ask_manager(task->budget->timeout, 0, "its budget");
        }
        ask_scheduler(task, CAMKES_JOB_ENDS, 0);
    }
}

/* From the first job on, the end of the budget is a message to the handler. */
static void watch_budget(const struct camkes_task *task)
{
#if defined(CONFIG_KERNEL_MCS)
    if (task->budget != NULL) {
        camkes_must(seL4_TCB_SetTimeoutEndpoint(task->budget->control->tcb, task->budget->timeout));
    }
#else
    (void)task;
#endif
}

/* What is used of the budget counts from now on. */
static void begin_budget(struct camkes_task *task)
{
#if defined(CONFIG_KERNEL_MCS)
    if (task->budget != NULL) {
        task->used = 0;
        (void)camkes_consumed(task->budget->time);
    }
#else
    (void)task;
#endif
}

/* Releases during an overrun are not lost: their jobs begin when those before them end. */
static void wait_for_release(struct camkes_task *task)
{
    if (by_event(task)) {
        seL4_Wait(task->release, NULL);
        task->begun = camkes_platform_now();
        return;
    }
    if (task->period == 0 && task->offset == 0) {
        return; /* released at boot */
    }
    camkes_platform_timer_await(task->timer, task->release, task->next,
                                camkes_release_time(task, task->next));
}

static bool is_left_out(const struct camkes_task *task)
{
    return camkes_level() > task->criticality &&
           (task->stretch == 0 ||
            (task->begun_last > 0 && task->next + 1 < task->begun_last + task->stretch));
}

static void begin_job(struct camkes_task *task)
{
    wait_for_release(task);
    /* at most 0 times: a job that is left out is none that begins */
    while (is_left_out(task)) {
        CAMKES_TRACE(JOB_LEFT_OUT, task->next);
        task->next++;
        wait_for_release(task);
    }
    begin_budget(task);
    const uint64_t job = task->next++;
    task->begun_last = task->next;
    task->in_job = true;
    const uint64_t release = camkes_release_time(task, job);
    ask_scheduler(task, CAMKES_JOB_BEGINS, release + task->deadline);
    CAMKES_TRACE(JOB_BEGIN, job, release);
}

void camkes_begin_task(struct camkes_task *task)
{
    if (task != NULL) {
        watch_budget(task);
        begin_job(task);
    }
}

void camkes_end_task(struct camkes_task *task)
{
    if (task != NULL) {
        end_job(task);
        if (!by_event(task)) {
            camkes_platform_timer_arm(task->timer, 0, 0);
        }
    }
}

bool camkes_next_job(void)
{
    struct camkes_task *task = camkes_self()->task;
    if (task == NULL) {
        return false;
    }
    if (!task->claimed) {
        task->claimed = true; /* job 0 began with run() */
        return true;
    }
    end_job(task);
    if (task->period == 0 && !by_event(task)) {
        return false;
    }
    begin_job(task);
    return true;
}

void camkes_work(uint64_t ns)
{
    camkes_platform_work(ns);
}

void camkes_work_between(uint64_t low, uint64_t high)
{
    camkes_platform_work_between(low, high);
}

uint64_t camkes_now(void)
{
    return camkes_platform_now();
}

unsigned camkes_request_priority(void)
{
    return camkes_own_priority(camkes_self());
}

bool camkes_request_aborted(void)
{
#if CAMKES_MCS
    struct camkes_thread *self = camkes_self();
    const bool aborted = self->aborted;
    self->aborted = false;
    return aborted;
#else
    return false;
#endif
}

int camkes_requestor(void)
{
    const uint16_t task = camkes_label_task(camkes_self()->label);
    return task == CAMKES_NO_TASK ? -1 : (int)task;
}
