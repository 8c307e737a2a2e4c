/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Registers, faults and calls of x86_64. */
#include "processor.h"

#include <string.h>
#include <sys/auxv.h>
#include <x86intrin.h>

enum { BASE_CAN_CHANGE = 2 /* of AT_HWCAP2: there are instructions for it */ };
enum { ALIGNMENT_CHECK = 0x40000 };

static uint64_t storage_base; /* 0: nothing can change it */

void processor_remember(void)
{
    if (getauxval(AT_HWCAP2) & BASE_CAN_CHANGE) {
        __asm__ volatile("rdfsbase %0" : "=r"(storage_base));
    }
}

void processor_settle(void)
{
    __asm__ volatile("cld");
    const uint64_t flags = __readeflags();
    if (flags & ALIGNMENT_CHECK) {
        __writeeflags(flags & ~(uint64_t)ALIGNMENT_CHECK);
    }
    if (storage_base) {
        uint64_t base; /* reading is much cheaper than writing */
        __asm__ volatile("rdfsbase %0" : "=r"(base));
        if (base != storage_base) {
            __asm__ volatile("wrfsbase %0" ::"r"(storage_base));
        }
    }
}

uint64_t processor_pc(const ucontext_t *context)
{
    return (uint64_t)context->uc_mcontext.gregs[REG_RIP];
}

uint64_t processor_sp(const ucontext_t *context)
{
    return (uint64_t)context->uc_mcontext.gregs[REG_RSP];
}

uint64_t processor_call_argument(const ucontext_t *context, unsigned i)
{
    static const int REGISTERS[] = {REG_RDI, REG_RSI, REG_RDX};
    return (uint64_t)context->uc_mcontext.gregs[REGISTERS[i]];
}

void processor_set_call_result(ucontext_t *context, uint64_t result)
{
    context->uc_mcontext.gregs[REG_RAX] = (greg_t)result;
}

/* As if the function that was called had returned: for a jump to an address that is not code. */
void processor_undo_call(ucontext_t *context, const struct thread *self)
{
    const char *sp = (const char *)processor_sp(context);
    if (sp >= self->stack && sp + 8 <= self->stack_top) {
        memcpy(&context->uc_mcontext.gregs[REG_RIP], sp, 8);
        context->uc_mcontext.gregs[REG_RSP] += 8;
    }
}

bool processor_wrote(const ucontext_t *context)
{
    return context->uc_mcontext.gregs[REG_ERR] & 2;
}

/* A non-canonical address: the processor does not tell which. */
bool processor_hides_address(const ucontext_t *context)
{
    return context->uc_mcontext.gregs[REG_TRAPNO] == 13;
}

/* The kernel writes the size of the state into the reserved bytes. */
static size_t extended_size(const ucontext_t *context)
{
    const struct {
        uint32_t magic, extended_size;
    } *software = (const void *)((const char *)context->uc_mcontext.fpregs + 464);
    size_t size = software->magic == 0x46505853 ? software->extended_size : 512;
    return size <= sizeof((struct registers *)0)->extended ? size : 512;
}

void processor_save(struct registers *registers, const ucontext_t *context)
{
    memcpy(registers->general, context->uc_mcontext.gregs, sizeof registers->general);
    registers->extended_size = extended_size(context);
    memcpy(registers->extended, context->uc_mcontext.fpregs, registers->extended_size);
}

void processor_restore(const struct registers *registers, ucontext_t *context)
{
    memcpy(context->uc_mcontext.gregs, registers->general, sizeof registers->general);
    memcpy(context->uc_mcontext.fpregs, registers->extended, registers->extended_size);
}

void processor_redirect(ucontext_t *context, char *stack_top, void (*to)(void))
{
    context->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)to;
    context->uc_mcontext.gregs[REG_RSP] = (greg_t)(uintptr_t)(stack_top - 8);
    context->uc_mcontext.gregs[REG_EFL] &= ~0x40500; /* trap, direction and alignment flags */
}
