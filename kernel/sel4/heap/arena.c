/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * The memory of one heap, for instances that share an address space. It is linked with a copy of
 * the C library's malloc(), which asks here instead of the kernel; see heaps.c for the callers of
 * the copy.
 */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

enum { PAGE = 4096 };

/* What is between `low` and `high` is free: malloc() moves the one up and takes pages below the
 * other. */
char camkes_arena[CAMKES_ARENA_SIZE] __attribute__((aligned(PAGE)));
static uintptr_t low = (uintptr_t)camkes_arena;
static uintptr_t high = (uintptr_t)camkes_arena + sizeof(camkes_arena);

/* Where code of the instance looks for its heap. */
char *morecore_area = camkes_arena;
size_t morecore_size = sizeof(camkes_arena);

static long move_break(uintptr_t wanted)
{
    if (wanted >= (uintptr_t)camkes_arena && wanted <= high) {
        low = wanted;
    }
    return (long)low;
}

static long take_pages(size_t size)
{
    const size_t free = high - low;
    if (size > free || (size + PAGE - 1) / PAGE * PAGE > free) {
        return -ENOMEM;
    }
    high = (high - size) / PAGE * PAGE;
    return high >= low ? (long)high : -ENOMEM;
}

static long serve(long number, ...)
{
    va_list arguments;
    va_start(arguments, number);
    const uintptr_t first = va_arg(arguments, uintptr_t);
    const size_t second = va_arg(arguments, size_t);
    va_end(arguments);
    switch (number) {
    case SYS_brk:
        return move_break(first);
#ifdef SYS_mmap2
    case SYS_mmap2:
#else
    case SYS_mmap:
#endif
        return take_pages(second);
    case SYS_munmap:
    case SYS_madvise:
        return 0; /* pages stay with the heap */
    default:
        return -ENOSYS;
    }
}

/* The copy of the C library makes its system calls through this. */
size_t __sysinfo = (size_t)serve;
