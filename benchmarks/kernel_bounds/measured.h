/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Included before the code of each component: `camkes_work` executes so many instructions, and the
 * ends of jobs, and events that release others, are noted in memory that a reporter reads.
 */
#pragma once

#include <camkes.h>
#include <stdint.h>

#define TASKS_MOST 16
#define TIMES_MOST 200

/* For each task: how many of its jobs have ended, and been released by an event, and when. */
struct times {
    volatile uint32_t ended, released;
    uint64_t end[TIMES_MOST], release[TIMES_MOST];
};

#define ALL_TIMES ((struct times *)results)

#ifdef JOBS_OF
static inline int measured_next_job(void)
{
    static int begun;
    struct times *const mine = &ALL_TIMES[JOBS_OF];
    if (begun && mine->ended < TIMES_MOST) {
        mine->end[mine->ended] = camkes_now();
        mine->ended++;
    }
    begun = 1;
    return camkes_next_job();
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

/* Executes `ns` >> INSTRUCTION_SHIFT instructions, but for a few. */
static inline __attribute__((always_inline)) void execute(uint64_t ns)
{
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
#define camkes_work(ns) execute(ns)
