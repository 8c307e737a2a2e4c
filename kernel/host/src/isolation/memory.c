/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * The block of shared memory that holds all kernel state. Nothing is ever given back. It has 4 GiB
 * of addresses for itself, whose upper halves are all the same (see confine.c), and is in the
 * middle of them, so that what overruns it or the memory before it faults. With --hardened a
 * process of a component can write to it only between access_open and access_close.
 */
#include "isolation/memory.h"
#include "record/output.h"
#include "state.h"

#include <string.h>
#include <sys/mman.h>

enum { ALIGNMENT = 16 };
static const size_t WINDOW = (size_t)1 << 32;

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
    kernel->magic = kernel->magic_at_end = KERNEL_MAGIC;
}

bool memory_contains(uint64_t address)
{
    return address - (uint64_t)(uintptr_t)kernel < memory_size;
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

size_t memory_used(void)
{
    return used;
}

char *memory_text(const char *text, size_t length)
{
    char *copy = memory_take(length + 1);
    memcpy(copy, text, length);
    copy[length] = 0;
    return copy;
}
