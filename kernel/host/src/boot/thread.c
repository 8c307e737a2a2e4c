/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Threads: their stacks and how they start and end. */
#include "boot/boot.h"
#include "entry/entry.h"
#include "record/output.h"
#include "processor.h"
#include "scheduling/scheduling.h"
#include "state.h"

#include <camkes/host.h>

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

/* What the workstation's C library needs of a stack beyond what seL4's would. */
#ifdef CAMKES_SANITIZED
static const size_t ALLOWANCE = 512 * 1024, FAULT_STACK = 256 * 1024;
#else
static const size_t ALLOWANCE = 64 * 1024, FAULT_STACK = 64 * 1024;
#endif
static const size_t GUARD = 1024 * 1024;

/* Fills stacks whose use is reported: none of the values that code writes most. */
enum { PAINT = 0xa5 };

void camkes_host_exit_status(int status)
{
    struct thread *self = kernel_enter_quietly();
    self->exit_status = status;
    kernel_leave(self);
}

static _Noreturn void end_thread(struct thread *self)
{
    for (;;) {
        kernel_enter_quietly();
        TRACE(EXIT, self, NULL, (uint64_t)self->exit_status);
        ready_set_state(self, THREAD_INACTIVE);
        kernel_leave(self);
    }
}

static void thread_main(void)
{
    kernel_arrive();
    struct thread *self = process.loaded;
    self->space->entry(self->index);
    end_thread(self);
}

static void make_usable(char *start, const char *end)
{
    if (mprotect(start, (size_t)(end - start), PROT_READ | PROT_WRITE) != 0) {
        give_up(3, "cannot make a stack");
    }
}

static size_t stack_size(const struct thread *thread)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (thread->stack_size + ALLOWANCE + page - 1) / page * page;
}

/* Guard, stack, guard, stack for faults. */
static size_t block_size(const struct thread *thread)
{
    return 2 * GUARD + stack_size(thread) + FAULT_STACK;
}

/* No two threads have stacks at one address, not even in different processes. */
void thread_reserve_stacks(void)
{
    size_t total = 0;
    for (unsigned i = 0; i < kernel->thread_count; i++) {
        total += block_size(&kernel->threads[i]);
    }
    kernel->stacks =
        mmap(NULL, total + GUARD, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (kernel->stacks == MAP_FAILED) {
        give_up(3, "cannot make stacks");
    }
    char *block = kernel->stacks;
    for (unsigned i = 0; i < kernel->thread_count; i++) {
        struct thread *thread = &kernel->threads[i];
        thread->guard = block;
        thread->stack = block + GUARD;
        thread->stack_top = thread->stack + stack_size(thread);
        thread->fault_stack = thread->stack_top + GUARD;
        thread->fault_stack_top = thread->fault_stack + FAULT_STACK;
        block += block_size(thread);
    }
}

/* For what its code had in the registers at a fault. */
static struct registers *make_registers(void)
{
    void *place = mmap(NULL, sizeof(struct registers), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED) {
        give_up(3, "cannot reserve memory for registers");
    }
    return place;
}

static void restart_main(void)
{
    kernel_arrive();
    process.loaded->restart();
    end_thread(process.loaded);
}

static void go_on_at(struct thread *thread, void (*entry)(void))
{
#ifdef __SANITIZE_ADDRESS__
    __asan_unpoison_memory_region(thread->stack, (size_t)(thread->stack_top - thread->stack));
#endif
    thread->redo = false;
    thread->restart = entry;
    thread->sp = context_make(thread->stack_top, restart_main);
}

void camkes_host_restart(seL4_CPtr tcb, void (*entry)(void))
{
    struct thread *self = kernel_enter(CAMKES_KCALL_RESUME, tcb);
    struct thread *thread = invocation_thread(self, tcb);
    if (thread && thread != self && thread->space == self->space) {
        invocation_resume(thread, self);
        go_on_at(thread, entry);
    }
    kernel_leave(self);
}

bool camkes_host_keep_reply(seL4_CPtr tcb)
{
    struct thread *self = kernel_enter(CAMKES_KCALL_REGISTERS, tcb);
    struct thread *thread = invocation_thread(self, tcb);
    const bool found = thread && thread->fault.after_reply;
    if (found) {
        thread->fault.after_reply = false;
    }
    kernel_leave(self);
    return found;
}

/* Makes the thread ready to start in this process. */
void thread_create(struct thread *thread)
{
    make_usable(thread->stack, thread->stack_top);
    make_usable(thread->fault_stack, thread->fault_stack_top);
    if (kernel->options.stacks) {
        memset(thread->stack, PAINT, (size_t)(thread->stack_top - thread->stack));
    }
    thread->interrupted = make_registers();
    storage_create(thread);
    thread->sp = context_make(thread->stack_top, thread_main);
}

/* Bytes below the top of a painted stack, down to the lowest that was written. */
uint64_t thread_stack_used(const struct thread *thread)
{
    const char *lowest = thread->stack;
    while (lowest < thread->stack_top && (unsigned char)*lowest == PAINT) {
        lowest++;
    }
    return (uint64_t)(thread->stack_top - lowest);
}
