/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* What ../processor.h wants to know of AArch64. */
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
