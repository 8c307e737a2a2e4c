/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Which thread runs next, and the way to it: to another stack, or to another process, which gets
 * control.
 */
#include "entry/entry.h"
#include "isolation/processes.h"
#include "processor.h"
#include "record/output.h"
#include "scheduling/scheduling.h"
#include "state.h"

#include <errno.h>
#include <string.h>

#ifdef CAMKES_SANITIZED
#include <pthread.h>
#include <sanitizer/common_interface_defs.h>
#endif

/*
 * A search compares stacks. What calls that are over left below a stack pointer would be found
 * again in gaps of the frames that come to lie on it: states that are the same would seem to
 * differ.
 */
void stack_clear_below(void *sp)
{
    enum { ENOUGH = 1024 };
    memset((char *)sp - ENOUGH, 0, ENOUGH);
}

__attribute__((noinline)) void stack_clear(void)
{
    enum { ENOUGH = 1024 };
    char stack[ENOUGH];
    memset(stack, 0, sizeof stack);
    __asm__ volatile("" : : "r"(stack) : "memory");
}

static void clear_stack_in_search(void)
{
    if (hooks.choose) {
        stack_clear();
    }
}

/* A search compares the stack wherever something is chosen: what earlier calls left on it, and
 * nothing reads, must not make states differ. */
static void schedule_next(void)
{
    clear_stack_in_search();
    schedule();
    clear_stack_in_search();
}

/* Decides which thread runs; if none can, lets time pass. (Not inline: nothing of it stays on a
 * stack that a search compares.) */
static __attribute__((noinline)) void decide(void)
{
    const bool decided = kernel->action == ACTION_SLICE && arrivals_end_slice();
    schedule_next();
    /* (not again in the process that a switch leads to) */
    while (!decided && kernel->options.arrivals && kernel->current &&
           kernel->current != kernel->shown && arrivals_at_switch()) {
        schedule_next();
    }
    if (kernel->stop && !kernel->ended) {
        clock_end(CAMKES_END_ABORT);
    }
    while (!kernel->ended && !kernel->current) {
        clock_skip();
        schedule_next();
    }
    if (!kernel->ended && kernel->current != kernel->shown) {
        TRACE(SWITCH, kernel->current, kernel->shown, kernel->current->priority);
        kernel->shown = kernel->current;
        kernel->last = kernel->current ? kernel->current : kernel->last;
    }
}

static void swap_stacks(struct thread *self, struct thread *next)
{
    void **save = self ? &self->sp : &process.first_sp;
    process.loaded = next;
    storage_switch(self, next);
#ifdef CAMKES_SANITIZED
    void **fiber = self ? &self->fiber : &process.first_fiber;
    if (next) {
        __sanitizer_start_switch_fiber(fiber, next->stack, (size_t)(next->stack_top - next->stack));
    } else {
        __sanitizer_start_switch_fiber(fiber, process.first_stack, process.first_stack_size);
    }
#endif
    context_swap(save, next ? next->sp : process.first_sp);
#ifdef CAMKES_SANITIZED
    __sanitizer_finish_switch_fiber(*fiber, NULL, NULL);
#endif
}

/*
 * The same in a search, where stacks are compared: nothing that is not needed stays on them, so the
 * registers that are saved hold 0, and where to go is not kept. What runs next is decided on the
 * first stack: a thread that does not run has the same on its own whoever decided.
 */
static __attribute__((noinline)) void leave_in_search_to(struct thread *next)
{
    storage_switch(NULL, next);
    process.loaded = next;
    process.target = next->sp;
    hooks.touched(next);
    stack_clear_below(next->sp);
    next->sp = NULL; /* is not read before it is set again: states would differ in it */
    processor_forget_registers();
    context_swap(&process.first_sp, process.target);
}

static __attribute__((noinline)) void go_in_search(void)
{
    struct thread *self = process.loaded;
    if (self) {
        const int saved_errno = errno;
        if (hooks.leaves) {
            hooks.leaves(self);
        }
        storage_switch(self, NULL);
        process.loaded = NULL;
        stack_clear_below(process.first_sp);
        processor_forget_registers();
        context_swap(&self->sp, process.first_sp);
        errno = saved_errno;
        return;
    }
    for (decide(); !kernel->ended; decide()) {
        leave_in_search_to(kernel->current);
    }
}

/* Goes where kernel->current is; comes back when that is the caller again (or, in the runner, at
 * the end). */
void kernel_go(void)
{
    if (hooks.choose) {
        go_in_search();
        return;
    }
    struct thread *self = process.loaded;
    int saved_errno = errno;
    for (;;) {
        decide();
        if (kernel->ended) {
            break;
        }
        if (kernel->options.fast || kernel->current->space == process.space) {
            break;
        }
        if (handover_to(kernel->current->space)) {
            handover_wait();
        }
    }
    struct thread *next = kernel->ended ? NULL : kernel->current;
    if (kernel->ended && process.space) {
        control_finish();
    }
    if (next != self) {
        swap_stacks(self, next);
    }
    errno = saved_errno;
}

void kernel_initialise_stack(void)
{
#ifdef CAMKES_SANITIZED
    pthread_attr_t attributes;
    void *stack;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &stack, &process.first_stack_size);
    pthread_attr_destroy(&attributes);
    process.first_stack = stack;
#endif
}

/* With --arrivals: a place where the thread may be preempted. */
void kernel_point(struct thread *self)
{
    if (arrivals_at_point(self)) {
        clear_stack_in_search();
        self->at_point = true;
        kernel_go();
        self->at_point = false;
    }
    clear_stack_in_search();
}
