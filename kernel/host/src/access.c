/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Who can write to the kernel's memory: with --hardened a component's process only in between
 * access_open and access_close. */
#include "memory.h"
#include "state.h"

#include <stdatomic.h>
#include <sys/mman.h>

/* In the runner, before there are other processes; these begin in the kernel. */
void access_harden(void)
{
    process.open = kernel->options.hardened;
}

/* `process.open` is set for as long as the memory is open at all: a signal in between that finds it
 * set leaves things as they are. */
void access_open(void)
{
    if (kernel->options.hardened && !process.open) {
        process.open = true;
        atomic_signal_fence(memory_order_seq_cst);
        access_protect(kernel, memory_size, PROT_READ | PROT_WRITE);
    }
}

void access_close(void)
{
    if (process.open) {
        access_protect(kernel, memory_size, PROT_READ);
        atomic_signal_fence(memory_order_seq_cst);
        process.open = false;
    }
}
