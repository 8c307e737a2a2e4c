/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * The heap of an address space is as large as in an image for seL4: beyond it, allocation fails.
 * The memory is the C library's; what a component allocates is counted. (Images are linked with
 * `--wrap` for each name behind `__wrap_` here. What the C library allocates for itself does not
 * count.)
 */
#include <errno.h>
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef CAMKES_SANITIZED
#include <sanitizer/allocator_interface.h>
#endif

/* In bytes; the kernel sets it when it loads the image. */
size_t camkes_image_heap = SIZE_MAX;

enum { OVERHEAD = 2 * sizeof(size_t) }; /* of a block */

static size_t used;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__real_memalign(size_t alignment, size_t size);
int __real_posix_memalign(void **block, size_t alignment, size_t size);
void __real_free(void *block);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_reallocarray(void *block, size_t count, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void *__wrap_memalign(size_t alignment, size_t size);
int __wrap_posix_memalign(void **block, size_t alignment, size_t size);
void __wrap_free(void *block);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t most);

/* 0: it is none of the heap, which is reported where it is used. */
static size_t size_of(void *block)
{
#ifdef CAMKES_SANITIZED
    return __sanitizer_get_ownership(block) ? __sanitizer_get_allocated_size(block) + OVERHEAD : 0;
#else
    return block ? malloc_usable_size(block) + OVERHEAD : 0;
#endif
}

/* Whether a block fits in place of one of so many bytes. */
static int fits(size_t size, size_t instead)
{
    const size_t others = used > instead ? used - instead : 0;
    if (others <= camkes_image_heap && size <= camkes_image_heap - others) {
        return 1;
    }
    errno = ENOMEM;
    return 0;
}

static void *count(void *block)
{
    used += size_of(block);
    return block;
}

static void forget(size_t size)
{
    used -= size < used ? size : used;
}

void *__wrap_malloc(size_t size)
{
    return fits(size, 0) ? count(__real_malloc(size)) : NULL;
}

void *__wrap_calloc(size_t number, size_t size)
{
    size_t whole;
    if (__builtin_mul_overflow(number, size, &whole)) {
        errno = ENOMEM;
        return NULL;
    }
    return fits(whole, 0) ? count(__real_calloc(number, size)) : NULL;
}

void *__wrap_realloc(void *block, size_t size)
{
    const size_t before = size_of(block);
    if (!fits(size, before)) {
        return NULL;
    }
    void *moved = __real_realloc(block, size);
    if (moved || size == 0) {
        forget(before);
        count(moved);
    }
    return moved;
}

void *__wrap_reallocarray(void *block, size_t number, size_t size)
{
    size_t whole;
    if (__builtin_mul_overflow(number, size, &whole)) {
        errno = ENOMEM;
        return NULL;
    }
    return __wrap_realloc(block, whole);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return fits(size, 0) ? count(__real_aligned_alloc(alignment, size)) : NULL;
}

void *__wrap_memalign(size_t alignment, size_t size)
{
    return fits(size, 0) ? count(__real_memalign(alignment, size)) : NULL;
}

int __wrap_posix_memalign(void **block, size_t alignment, size_t size)
{
    const int before = errno;
    if (!fits(size, 0)) {
        errno = before; /* the result has the reason */
        return ENOMEM;
    }
    const int status = __real_posix_memalign(block, alignment, size);
    if (status == 0) {
        count(*block);
    }
    return status;
}

void __wrap_free(void *block)
{
    forget(size_of(block));
    __real_free(block);
}

char *__wrap_strndup(const char *text, size_t most)
{
    const size_t length = strnlen(text, most);
    char *copy = __wrap_malloc(length + 1);
    if (copy) {
        memcpy(copy, text, length);
        copy[length] = 0;
    }
    return copy;
}

char *__wrap_strdup(const char *text)
{
    return __wrap_strndup(text, strlen(text));
}
