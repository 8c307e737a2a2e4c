/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Into the kernel and out of it. A kernel operation is a plain function call on the thread's stack;
 * leaving it may mean a switch to another thread.
 */
#include "entry/entry.h"
#include "time/budget.h"
#include "isolation/faults.h"
#include "isolation/memory.h"
#include "objects/operations.h"
#include "record/output.h"
#include "processor.h"
#include "scheduling/scheduling.h"
#include "state.h"

#ifdef CAMKES_SANITIZED
#include <sanitizer/common_interface_defs.h>
enum { HEADROOM = 64 * 1024 };
#else
enum { HEADROOM = 6 * 1024 };
#endif

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
        stack_clear();
        kernel_go();
    }
    const bool redo = take_redo(self);
    stack_clear();
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
