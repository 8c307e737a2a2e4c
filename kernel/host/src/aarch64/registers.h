/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The part of ../processor.h for AArch64. */
#pragma once

#include <linux/audit.h>
#include <stddef.h>
#include <ucontext.h>

enum {
    SYSCALL_ABI = (int)AUDIT_ARCH_AARCH64,
    SYSCALL_FOREIGN = 0x7fffffff,
};

struct registers {
    mcontext_t machine;
};

/* See the one of x86_64. */
static inline void processor_forget_registers(void)
{
    __asm__ volatile("mov x19, xzr\n\tmov x20, xzr\n\tmov x21, xzr\n\tmov x22, xzr\n\tmov x23, xzr"
                     "\n\tmov x24, xzr\n\tmov x25, xzr\n\tmov x26, xzr\n\tmov x27, xzr\n\t"
                     "mov x28, xzr"
                     :
                     :
                     : "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28",
                       "memory");
}
