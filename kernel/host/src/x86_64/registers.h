/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* What ../processor.h wants to know of x86_64. */
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
