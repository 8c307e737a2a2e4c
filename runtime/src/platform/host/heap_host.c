/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * The heap of an address space is as large as in an image for seL4: beyond it, allocation fails.
 * The memory is the C library's; what a component allocates is counted. (Images are linked with
 * `--wrap` for each name behind `__wrap_` here.) What the C library allocates for itself does not
 * count, nor does it when the component frees it: so the blocks that count are kept.
 */
#include <errno.h>
#include <malloc.h>
#include <search.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In bytes; the kernel sets it when it loads the image. */
size_t camkes_image_heap = SIZE_MAX;

enum { OVERHEAD = 2 * sizeof(size_t) }; /* of a block */
enum { PAGE = 4096 };

static size_t used;  /* by the blocks that count */
static void *blocks; /* a tree of them */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__real_memalign(size_t alignment, size_t size);
int __real_posix_memalign(void **block, size_t alignment, size_t size);
void __real_free(void *block);
ssize_t __real_getdelim(char **line, size_t *size, int end, FILE *stream);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_reallocarray(void *block, size_t count, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void *__wrap_memalign(size_t alignment, size_t size);
int __wrap_posix_memalign(void **block, size_t alignment, size_t size);
void __wrap_free(void *block);
void *__wrap_valloc(size_t size);
ssize_t __wrap_getline(char **line, size_t *size, FILE *stream);
ssize_t __wrap_getdelim(char **line, size_t *size, int end, FILE *stream);
ssize_t __wrap___getdelim(char **line, size_t *size, int end, FILE *stream);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t most);

static int in_order(const void *a, const void *b)
{
    return ((uintptr_t)a > (uintptr_t)b) - ((uintptr_t)a < (uintptr_t)b);
}

/* Of a block; 0: it does not count. */
static size_t size_of(void *block)
{
    return block && tfind(block, &blocks, in_order) ? malloc_usable_size(block) + OVERHEAD : 0;
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

/* NULL: there is no block, or no memory for its entry. */
static void *count(void *block)
{
    if (block && !tsearch(block, &blocks, in_order)) {
        __real_free(block);
        errno = ENOMEM;
        block = NULL;
    }
    used += size_of(block);
    return block;
}

/* The block that was there counts no longer. */
static void forget(uintptr_t place, size_t size)
{
    if (size > 0) {
        tdelete((void *)place, &blocks, in_order);
        used -= size;
    }
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
    const uintptr_t place = (uintptr_t)block;
    const size_t before = size_of(block);
    if (!fits(size, before)) {
        return NULL;
    }
    void *moved = __real_realloc(block, size);
    if (moved || size == 0) {
        forget(place, before);
        moved = count(moved);
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
    return status == 0 && !count(*block) ? ENOMEM : status;
}

void *__wrap_valloc(size_t size)
{
    return __wrap_memalign(PAGE, size);
}

void __wrap_free(void *block)
{
    forget((uintptr_t)block, size_of(block));
    __real_free(block);
}

char *__wrap_strndup(const char *text, size_t most)
{
    const size_t length = strnlen(text, most);
    char *copy = __wrap_malloc(length + 1);
    if (copy) {
        (void)memcpy(copy, text, length);
        copy[length] = 0;
    }
    return copy;
}

char *__wrap_strdup(const char *text)
{
    return __wrap_strndup(text, strlen(text));
}

/* The C library makes the component's block larger. */
ssize_t __wrap_getdelim(char **line, size_t *size, int end, FILE *stream)
{
    if (!line) {
        return __real_getdelim(line, size, end, stream);
    }
    const uintptr_t place = (uintptr_t)*line;
    const size_t before = size_of(*line);
    const ssize_t length = __real_getdelim(line, size, end, stream);
    forget(place, before);
    *line = count(*line);
    return *line ? length : -1;
}

ssize_t __wrap___getdelim(char **line, size_t *size, int end, FILE *stream)
{
    return __wrap_getdelim(line, size, end, stream);
}

ssize_t __wrap_getline(char **line, size_t *size, FILE *stream)
{
    return __wrap_getdelim(line, size, '\n', stream);
}
