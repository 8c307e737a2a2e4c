/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Threads: their stacks and how they start and end. */
#include "kernel.h"

#include <sys/mman.h>
#include <unistd.h>

/* What the workstation's C library needs of a stack beyond what seL4's would. */
#ifdef __SANITIZE_ADDRESS__
static const size_t ALLOWANCE = 512 * 1024, FAULT_STACK = 256 * 1024;
#else
static const size_t ALLOWANCE = 64 * 1024, FAULT_STACK = 64 * 1024;
#endif
static const size_t GUARD = 1024 * 1024;

static void thread_main(void)
{
    kernel_arrive();
    struct thread *self = process.loaded;
    self->space->entry(self->index);
    for (;;) {
        kernel_enter_quietly();
        TRACE(EXIT, self, NULL, 0);
        schedule_set_state(self, THREAD_INACTIVE);
        kernel_leave(self);
    }
}

static char *usable(char *start, size_t size)
{
    if (mprotect(start, size, PROT_READ | PROT_WRITE) != 0) {
        give_up(3, "cannot make a stack");
    }
    return start;
}

/* Gives the thread its stack in this process: guard, stack, guard, stack for faults. */
void thread_create(struct thread *thread)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t size = (thread->stack_size + ALLOWANCE + page - 1) / page * page;
    char *block = mmap(NULL, 2 * GUARD + size + FAULT_STACK, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (block == MAP_FAILED) {
        give_up(3, "cannot make a stack");
    }
    thread->guard = block;
    thread->stack = usable(block + GUARD, size);
    thread->stack_top = thread->stack + size;
    thread->fault_stack = usable(thread->stack_top + GUARD, FAULT_STACK);
    thread->fault_stack_top = thread->fault_stack + FAULT_STACK;
    thread->interrupted = registers_take();
    thread->sp = context_make(thread->stack_top, thread_main);
}
