/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The part of ../processor.h for x86_64. */
#pragma once

#include <linux/audit.h>
#include <stddef.h>
#include <ucontext.h>

enum {
    SYSCALL_ABI = (int)AUDIT_ARCH_X86_64,
    SYSCALL_FOREIGN = 0x40000000, /* calls of the x32 ABI */
};

struct registers {
    gregset_t general;
    size_t extended_size;
    _Alignas(64) char extended[16384];
};

/* Registers that a function preserves hold 0: a search compares what is saved of them, and values
 * that are not used any more would make a difference. (Code that is not optimised, and code with
 * sanitizers, needs %rbp.) */
static inline void processor_forget_registers(void)
{
    __asm__ volatile("xorl %%ebx, %%ebx\n\txorl %%r12d, %%r12d\n\txorl %%r13d, %%r13d\n\t"
                     "xorl %%r14d, %%r14d\n\txorl %%r15d, %%r15d"
                     :
                     :
                     : "rbx", "r12", "r13", "r14", "r15", "cc", "memory");
#if defined(__OPTIMIZE__) && !defined(CAMKES_SANITIZED)
    __asm__ volatile("xorl %%ebp, %%ebp" : : : "rbp", "cc");
#endif
}
