/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * The block of shared memory that holds all kernel state. Nothing is ever given back. It has 4 GiB
 * of addresses for itself, whose upper halves are all the same (see confine.c), and is in the
 * middle of them, so that what overruns it or the memory before it faults. With --hardened a
 * process of a component can write to it only between memory_open and memory_close.
 */
#include "kernel.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ALIGNMENT = 16 };
const size_t memory_size = (size_t)1 << 30; /* only what is touched costs anything */
static const size_t WINDOW = (size_t)1 << 32;
static const uint64_t MAGIC = 0x63616d6b65732d72u;

struct kernel *kernel;
static size_t used; /* grows only before the first fork */

void memory_create(void)
{
    char *window =
        mmap(NULL, 2 * WINDOW, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (window == MAP_FAILED) {
        give_up(3, "cannot map the kernel's memory");
    }
    char *start = window + (-(uintptr_t)window & (WINDOW - 1));
    munmap(window, (size_t)(start - window));
    munmap(start + WINDOW, (size_t)(window + WINDOW - start));
    void *block = mmap(start + memory_size, memory_size, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    if (block == MAP_FAILED) {
        give_up(3, "cannot map the kernel's memory");
    }
    used = sizeof *kernel;
    kernel = block;
    kernel->magic = kernel->magic_at_end = MAGIC;
}

bool memory_good(void)
{
    return kernel->magic == MAGIC && kernel->magic_at_end == MAGIC && integrity_of_tables();
}

/* A component that wrote over the kernel's memory does not get further than its next operation. */
void memory_check(void)
{
    if (!memory_good()) {
        memory_damaged();
    }
}

/* Nothing in the kernel's memory can be relied upon. A process of a component leaves it to the
 * runner to say so. */
_Noreturn void memory_damaged(void)
{
    if (!process.space) {
        unsigned last = integrity_last_space();
        const char *name = last == NONE ? NULL : handover_name(last);
        dprintf(STDERR_FILENO, "camkes-host: a component wrote into the kernel's memory%s%s%s\n",
                name ? " (" : "", name ? name : "", name ? " ran last)" : "");
    }
    process_exit(STATUS_DAMAGED);
}

bool memory_contains(uint64_t address)
{
    return address - (uint64_t)(uintptr_t)kernel < memory_size;
}

/* In the runner, before there are other processes; these begin in the kernel. */
void memory_harden(void)
{
    process.open = kernel->options.hardened;
}

/* `process.open` is set for as long as the memory is open at all: a signal in between that finds it
 * set leaves things as they are. */
void memory_open(void)
{
    if (kernel->options.hardened && !process.open) {
        process.open = true;
        atomic_signal_fence(memory_order_seq_cst);
        memory_protect(kernel, memory_size, PROT_READ | PROT_WRITE);
    }
}

void memory_close(void)
{
    if (process.open) {
        memory_protect(kernel, memory_size, PROT_READ);
        atomic_signal_fence(memory_order_seq_cst);
        process.open = false;
    }
}

void *memory_take(size_t size)
{
    size_t start = (used + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (size > memory_size - start) {
        give_up(2, "the system is too large");
    }
    used = start + size;
    return (char *)kernel + start;
}

char *memory_text(const char *text, size_t length)
{
    char *copy = memory_take(length + 1);
    memcpy(copy, text, length);
    copy[length] = 0;
    return copy;
}
