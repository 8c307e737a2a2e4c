/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Included before the code of each component: `camkes_work` executes so many instructions, and the
 * ends of jobs, and events that release others, are noted in memory that a reporter reads.
 */
#pragma once

#include <camkes.h>
#include <camkes/task.h>
#include <camkes/thread.h>
#include <stdint.h>

#define TASKS_MOST 16
#define TIMES_MOST 200

/* For each task: how many of its jobs have ended, and been released by an event; which, and when.
 */
struct times {
    volatile uint32_t ended, released;
    uint64_t job[TIMES_MOST], end[TIMES_MOST], release[TIMES_MOST];
};
_Static_assert(TASKS_MOST * sizeof(struct times) <= 81920, "all times are in a dataport");

#define ALL_TIMES ((struct times *)results)

#ifdef MEASURED_TASK
static inline bool measured_next_job(void)
{
    const struct camkes_task *const task = camkes_self()->task;
    struct times *const mine = &ALL_TIMES[measured_task];
    if (task->claimed && task->in_job && mine->ended < TIMES_MOST) {
        mine->job[mine->ended] = task->next - 1;
        mine->end[mine->ended] = camkes_now();
        mine->ended++;
    }
    /* however much it asks for, the reporter can print */
    return camkes_now() < until_ns && camkes_next_job();
}
#define camkes_next_job() measured_next_job()

static inline void note_release(unsigned task)
{
    struct times *const of = &ALL_TIMES[task];
    if (of->released < TIMES_MOST) {
        of->release[of->released] = camkes_now();
        of->released++;
    }
}
#endif

/* Executes `ns` >> INSTRUCTION_SHIFT instructions, but for a few. With SHORTER, one in 2 to the
 * power of that less: a clock whose second is a little shorter does not make it longer than stated.
 */
static inline __attribute__((always_inline)) void execute(uint64_t ns)
{
#ifdef SHORTER
    ns -= ns >> SHORTER;
#endif
    uint64_t left = (ns >> INSTRUCTION_SHIFT) / 2;
    if (left == 0) {
        return;
    }
#if defined(__x86_64__)
    __asm__ volatile("1: sub $1, %0\n jnz 1b" : "+r"(left) : : "cc");
#elif defined(__aarch64__)
    __asm__ volatile("1: subs %0, %0, #1\n b.ne 1b" : "+r"(left) : : "cc");
#elif defined(__riscv)
    __asm__ volatile("1: addi %0, %0, -1\n bnez %0, 1b" : "+r"(left));
#else
#error "the instructions of a loop are not known"
#endif
}

/* The same for a time in between; which one depends on those before it in this component. */
static inline void execute_between(uint64_t low, uint64_t high)
{
    static uint32_t state = 1;
    state = state * 1664525U + 1013904223U;
    execute(low + (high - low) * (state >> 24) / 255);
}
#define camkes_work(ns) execute(ns)
#define camkes_work_between(low, high) execute_between(low, high)
