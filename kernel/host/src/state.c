/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The state of the kernel, for all its files. */
#include "state.h"
#include "isolation/memory.h"

const size_t memory_size = (size_t)1 << 30; /* only what is touched costs anything */
struct kernel *kernel;
struct process process;
struct hooks hooks;
