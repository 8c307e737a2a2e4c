/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The block of shared memory that holds all kernel state. Nothing is ever given back. */
#include "kernel.h"

#include <string.h>
#include <sys/mman.h>

enum { ALIGNMENT = 16 };
static const size_t BLOCK_SIZE = (size_t)1 << 30; /* only what is touched costs anything */

struct kernel *kernel;
static size_t used; /* grows only before the first fork */

void memory_create(void)
{
    void *block = mmap(NULL, BLOCK_SIZE, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (block == MAP_FAILED) {
        give_up(3, "cannot map the kernel's memory");
    }
    kernel = block;
    used = sizeof *kernel;
}

void *memory_take(size_t size)
{
    size_t start = (used + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (size > BLOCK_SIZE - start) {
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
