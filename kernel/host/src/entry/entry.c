/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Into the kernel and out of it. A kernel operation is a plain function call on the thread's stack;
 * leaving it may mean going to another stack or handing control to another process.
 */
#include "entry/entry.h"
#include "time/budget.h"
#include "isolation/faults.h"
#include "isolation/memory.h"
#include "objects/operations.h"
#include "record/output.h"
#include "isolation/processes.h"
#include "processor.h"
#include "scheduling/scheduling.h"
#include "state.h"

#include <errno.h>
#include <string.h>

#ifdef CAMKES_SANITIZED
#include <pthread.h>
#include <sanitizer/common_interface_defs.h>
enum { HEADROOM = 64 * 1024 };
#else
enum { HEADROOM = 6 * 1024 };
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

static __attribute__((noinline)) void clear_stack(void)
{
    enum { ENOUGH = 1024 };
    char stack[ENOUGH];
    memset(stack, 0, sizeof stack);
    __asm__ volatile("" : : "r"(stack) : "memory");
}

static void clear_stack_in_search(void)
{
    if (hooks.choose) {
        clear_stack();
    }
}

static void set_inside(bool inside)
{
    access_open();
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&kernel->inside, inside, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    if (!inside) {
        access_close();
    }
}

/* Kernel code needs some stack; a thread that has too little left has overrun its stack. */
static void check_stack(struct thread *self)
{
    char *here = __builtin_frame_address(0);
    if (here < self->stack + HEADROOM && here >= self->stack) {
        *(volatile char *)(self->stack - 1) = 0; /* the guard */
    }
}

/* The thread made so many kernel operations at one instant that it seems it always will. */
static void stop_silent_loop(struct thread *thread)
{
    thread->fault = (struct fault){.kind = CAMKES_FAULT_LOOP};
    fault_fill_exception(&thread->fault);
    backtrace_take(thread, 0, false);
    locate(thread, thread->called_from, (uint64_t)(uintptr_t)__builtin_frame_address(0));
    fault_raise(thread);
    kernel_go();
    thread->redo = false;
}

/* In a search no time passes. */
static bool fills_slots(void)
{
    return kernel->slot_count && !kernel->options.arrivals;
}

/* At one instant. The end of a slot is an end of loops: of those that take no time after as many
 * operations as are left of the slot in microseconds, as each would take at least one. A job that
 * ends just before the end of a slot makes a few at once, which is not a loop. */
static uint64_t most_calls(void)
{
    enum { FEWEST = 1000 };
    const uint64_t most = kernel->options.call_limit;
    if (!fills_slots()) {
        return most;
    }
    const uint64_t rest = (kernel->slot_end - kernel->now) / 1000;
    const uint64_t calls = rest < FEWEST ? FEWEST : rest;
    return calls < most ? calls : most;
}

/* An operation that leaves no record. */
struct thread *kernel_enter_quietly(void)
{
    processor_settle();
    struct thread *self = process.loaded;
    if (!self) {
        give_up(2, "a component uses the kernel before its threads run");
    }
    check_stack(self);
    damage_check();
    if (kernel->current != self || self->state != THREAD_RUNNING) {
        damage_end();
    }
    set_inside(true);
    kernel->entries++;
    if (++kernel->calls > most_calls()) {
        kernel->calls = 0;
        if (fills_slots()) {
            work_fill_slot(self);
        } else {
            stop_silent_loop(self);
        }
    }
    return self;
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

/* An MCS kernel needs some of the budget for an operation. */
static void wait_for_time(struct thread *self)
{
    while (!timeout_enters()) {
        timeout_end_slice(self, true);
        schedule();
        if (kernel->current != self) {
            kernel_go();
        }
    }
    self->redo = false; /* the operation has not begun */
}

struct thread *kernel_enter(enum camkes_kcall operation, seL4_CPtr slot)
{
    struct thread *self = kernel_enter_quietly();
    if (kernel->mcs) {
        wait_for_time(self);
    }
    if (kernel->options.arrivals) {
        if (arrivals_matter(self, operation, slot)) {
            kernel_point(self);
        }
        arrivals_started(self, operation, slot);
    }
    TRACE(KCALL, self, NULL, operation, cap_object_number(self, slot));
    return self;
}

static bool take_redo(struct thread *self)
{
    bool redo = self->redo;
    self->redo = false;
    return redo;
}

static __attribute__((noinline)) bool leave_in_search(struct thread *self)
{
    if (kernel->mcs || kernel->action != ACTION_RESUME) {
        clear_stack();
        kernel_go();
    }
    const bool redo = take_redo(self);
    clear_stack();
    set_inside(false);
    return redo;
}

/* True: the thread was taken out of its operation and has to start it again. */
bool kernel_leave(struct thread *self)
{
    if (hooks.choose) {
        return leave_in_search(self);
    }
    schedule();
    if (kernel->current != self || kernel->stop) {
        kernel_go();
    }
    bool redo = take_redo(self);
    set_inside(false);
    return redo;
}

/* After an operation that changed nothing. */
void kernel_leave_quietly(struct thread *self)
{
    if (hooks.choose || kernel->stop) {
        kernel_leave(self);
        return;
    }
    set_inside(false);
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

/* The first function on a new stack, after a switch to it. */
void kernel_arrive(void)
{
#ifdef CAMKES_SANITIZED
    __sanitizer_finish_switch_fiber(NULL, NULL, NULL);
#endif
    set_inside(false);
}

/* Informs the address sanitizer that execution continues on another stack. */
static void note_stack(struct thread *self, const char *low, const char *high)
{
#ifdef CAMKES_SANITIZED
    __sanitizer_start_switch_fiber(&self->fiber, low, (size_t)(high - low));
    __sanitizer_finish_switch_fiber(NULL, NULL, NULL);
#else
    (void)self;
    (void)low;
    (void)high;
#endif
}

/* A fault left the thread's code wherever it was, for the stack for faults. */
void kernel_arrive_at_fault(struct thread *self)
{
    note_stack(self, self->fault_stack, self->fault_stack_top);
    damage_check();
    set_inside(true);
    kernel->entries++;
}

/* And the way back. */
void kernel_leave_fault(struct thread *self)
{
    self->redo = false;
    note_stack(self, self->stack, self->stack_top);
    set_inside(false);
}
