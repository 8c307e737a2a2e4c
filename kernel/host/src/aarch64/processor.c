/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Registers, faults and calls of AArch64. */
#include "processor.h"

#include <string.h>

static uint64_t storage_base;

void processor_remember(void)
{
    __asm__ volatile("mrs %0, tpidr_el0" : "=r"(storage_base));
}

void processor_settle(void)
{
    if (storage_base) {
        __asm__ volatile("msr tpidr_el0, %0" ::"r"(storage_base));
    }
}

uint64_t processor_pc(const ucontext_t *context)
{
    return context->uc_mcontext.pc;
}

uint64_t processor_sp(const ucontext_t *context)
{
    return context->uc_mcontext.sp;
}

uint64_t processor_call_argument(const ucontext_t *context, unsigned i)
{
    return context->uc_mcontext.regs[i];
}

void processor_set_call_result(ucontext_t *context, uint64_t result)
{
    context->uc_mcontext.regs[0] = result;
}

/* As if the function that was called had returned: for a jump to an address that is not code. */
void processor_undo_call(ucontext_t *context, const struct thread *self)
{
    (void)self;
    context->uc_mcontext.pc = context->uc_mcontext.regs[30];
}

/* The exception syndrome is one of the records behind the registers. */
bool processor_wrote(const ucontext_t *context)
{
    const char *record = (const char *)context->uc_mcontext.__reserved;
    const char *end = record + sizeof context->uc_mcontext.__reserved;
    while (record + 16 <= end) {
        uint32_t head[2];
        uint64_t syndrome;
        memcpy(head, record, sizeof head);
        memcpy(&syndrome, record + 8, sizeof syndrome);
        if (head[0] == 0x45535201) {
            return syndrome & 1 << 6;
        }
        if (head[0] == 0 || head[1] == 0) {
            break;
        }
        record += head[1];
    }
    return false;
}

bool processor_hides_address(const ucontext_t *context)
{
    (void)context;
    return false;
}

void processor_save(struct registers *registers, const ucontext_t *context)
{
    registers->machine = context->uc_mcontext;
}

void processor_restore(const struct registers *registers, ucontext_t *context)
{
    context->uc_mcontext = registers->machine;
}

void processor_redirect(ucontext_t *context, char *stack_top, void (*to)(void))
{
    context->uc_mcontext.pc = (uintptr_t)to;
    context->uc_mcontext.sp = (uintptr_t)stack_top;
}
