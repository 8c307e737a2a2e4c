/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Who can write to the kernel's memory: a component's process only between access_open and
 * access_close, where the processor has protection keys, or with --hardened.
 */
#include "isolation/memory.h"
#include "state.h"

#include <stdatomic.h>
#include <sys/mman.h>

/* The protection key of the kernel's memory, -1: none. Not in that memory: a signal handler begins
 * without any access to it. */
static int key = -1;

bool access_has_key(void)
{
    return key >= 0;
}

/* The sanitizers' functions do not expect memory that cannot be written. */
static void take_key(void)
{
#ifndef CAMKES_SANITIZED
    if (kernel->options.fast) {
        return;
    }
    int found = pkey_alloc(0, 0);
    if (found < 0) {
        return;
    }
    if (pkey_mprotect(kernel, memory_size, PROT_READ | PROT_WRITE, found) == 0) {
        key = found;
    } else {
        pkey_free(found);
    }
#endif
}

/* In the runner, before there are other processes; these begin in the kernel. */
void access_restrict(void)
{
    take_key();
    process.open = key >= 0 || kernel->options.hardened;
}

/* `process.open` is set for as long as the memory is open at all: a signal in between that finds it
 * set leaves things as they are. A key is set each time: a signal handler that goes to other code
 * leaves it with the key of who was interrupted. */
void access_open(void)
{
    if (key >= 0) {
        process.open = true;
        atomic_signal_fence(memory_order_seq_cst);
        pkey_set(key, 0);
    } else if (kernel->options.hardened && !process.open) {
        process.open = true;
        atomic_signal_fence(memory_order_seq_cst);
        access_protect(kernel, memory_size, PROT_READ | PROT_WRITE);
    }
}

void access_close(void)
{
    if (process.open) {
        if (key >= 0) {
            pkey_set(key, PKEY_DISABLE_WRITE);
        } else {
            access_protect(kernel, memory_size, PROT_READ);
        }
        atomic_signal_fence(memory_order_seq_cst);
        process.open = false;
    }
}

/* At the begin of a signal handler: the workstation takes every access by keys away. */
void access_in_handler(void)
{
    if (key >= 0) {
        pkey_set(key, process.open ? 0 : PKEY_DISABLE_WRITE);
    }
}
