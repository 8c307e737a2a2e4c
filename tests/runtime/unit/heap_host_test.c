/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: RT-12 */
/* The heap of an address space on the host kernel: what counts of it, and what does not fit. */
#define _GNU_SOURCE
#include <search.h>
#include <stdbool.h>
#include <stdio.h>

static bool no_entry; /* there is no memory for what is kept of a block */

static void *search_or_not(const void *key, void **root, int (*order)(const void *, const void *));

#define tsearch search_or_not
#include "../../../runtime/src/platform/host/heap_host.c"
#undef tsearch

static bool out_of_memory; /* the C library */

static void need(bool good, const char *what)
{
    if (!good) {
        printf("%s: %zu bytes are used\n", what, used);
        exit(1);
    }
}

static void *search_or_not(const void *key, void **root, int (*order)(const void *, const void *))
{
    return no_entry ? NULL : tsearch(key, root, order);
}

void *__real_malloc(size_t size)
{
    return malloc(size);
}

void *__real_calloc(size_t number, size_t size)
{
    return calloc(number, size);
}

void *__real_realloc(void *block, size_t size)
{
    return out_of_memory ? NULL : realloc(block, size);
}

void *__real_aligned_alloc(size_t alignment, size_t size)
{
    return aligned_alloc(alignment, size);
}

void *__real_memalign(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

int __real_posix_memalign(void **block, size_t alignment, size_t size)
{
    return alignment == 3 ? EINVAL : posix_memalign(block, alignment, size);
}

void __real_free(void *block)
{
    free(block);
}

ssize_t __real_getdelim(char **line, size_t *size, int end, FILE *stream)
{
    return getdelim(line, size, end, stream);
}

/* A block that was allocated counts, until it is freed. */
static void need_block(void *block, size_t size, const char *what)
{
    need(block != NULL && used >= size + OVERHEAD && used < size + OVERHEAD + 64, what);
    __wrap_free(block);
    need(used == 0, what);
}

/* None was allocated, as it does not fit. */
static void need_none(const void *block, const char *what)
{
    need(block == NULL && errno == ENOMEM && used == 0, what);
    errno = 0;
}

static void blocks_that_fit(void)
{
    static const char zeros[60];
    void *block = NULL;
    need_block(__wrap_malloc(100), 100, "malloc");
    block = __wrap_calloc(6, 10);
    need(memcmp(block, zeros, sizeof zeros) == 0, "calloc clears");
    need_block(block, 60, "calloc");
    need_block(__wrap_aligned_alloc(64, 128), 128, "aligned_alloc");
    need_block(__wrap_memalign(64, 100), 100, "memalign");
    block = __wrap_valloc(100);
    need((uintptr_t)block % PAGE == 0, "valloc");
    need_block(block, 100, "valloc");
    need(__wrap_posix_memalign(&block, 64, 100) == 0 && (uintptr_t)block % 64 == 0, "a status");
    need_block(block, 100, "posix_memalign");
    need(__wrap_posix_memalign(&block, 3, 100) == EINVAL && used == 0, "no alignment");
    need_block(__wrap_strdup("text"), 5, "strdup");
    block = __wrap_strndup("text", 2);
    need(strcmp(block, "te") == 0, "strndup");
    need_block(block, 3, "strndup");
    __wrap_free(NULL);
}

static void blocks_that_do_not_fit(void)
{
    void *block = NULL;
    camkes_image_heap = 1000;
    errno = 0;
    need_none(__wrap_malloc(1001), "malloc");
    need_none(__wrap_calloc(1001, 1), "calloc");
    need_none(__wrap_calloc(SIZE_MAX / 2, 3), "calloc of more than can be said");
    need_none(__wrap_realloc(NULL, 1001), "realloc");
    need_none(__wrap_reallocarray(NULL, SIZE_MAX / 2, 3), "reallocarray of more than can be said");
    need_none(__wrap_aligned_alloc(64, 1024), "aligned_alloc");
    need_none(__wrap_memalign(64, 1001), "memalign");
    need(__wrap_posix_memalign(&block, 64, 1001) == ENOMEM && errno == 0, "posix_memalign");
    static char text[1001];
    memset(text, 'x', 1000);
    need_none(__wrap_strdup(text), "strdup");
    need_block(__wrap_malloc(1000), 1000, "as much as there is");
    block = __wrap_malloc(1000);
    need(used > 1000 && __wrap_malloc(0) == NULL, "what is used for blocks counts, too");
    __wrap_free(block);
}

static void no_memory_for_entries(void)
{
    void *block = NULL;
    no_entry = true;
    need_none(__wrap_malloc(100), "no entry");
    need(__wrap_posix_memalign(&block, 64, 100) == ENOMEM && used == 0, "no entry");
    no_entry = false;
}

static void blocks_that_change(void)
{
    camkes_image_heap = 1000;
    char *block = __wrap_reallocarray(NULL, 10, 10);
    strcpy(block, "text");
    const size_t before = used;
    need(__wrap_realloc(block, 1001) == NULL && used == before, "too large: it stays as it is");
    out_of_memory = true;
    need(__wrap_realloc(block, 900) == NULL && used == before, "and if there is no memory");
    out_of_memory = false;
    block = __wrap_realloc(block, 900);
    need(strcmp(block, "text") == 0 && used >= 900 + OVERHEAD, "it has grown");
    char *other = __wrap_malloc(10);
    need(other != NULL && __wrap_realloc(other, 100) == NULL, "others count");
    block = __wrap_realloc(block, 20);
    other = __wrap_realloc(other, 100);
    need(block != NULL && other != NULL, "what another one gave back");
    need(__wrap_realloc(block, 0) == NULL, "nothing is left");
    need_block(other, 100, "the other");
}

/* A block that the C library allocated by itself does not count, nor does its end. */
static void blocks_of_others(void)
{
    char *const counted = __wrap_malloc(100);
    const size_t before = used;
    __wrap_free(malloc(500));
    need(used == before, "a block of others");
    need_block(counted, 100, "the other");
}

static void lines(void)
{
    char text[] = "one\ntwo;three\n";
    FILE *const stream = fmemopen(text, sizeof text - 1, "r");
    char *line = NULL;
    size_t size = 0;
    need(__wrap_getline(&line, &size, stream) == 4 && strcmp(line, "one\n") == 0, "a line");
    need(used >= size, "its block counts");
    need(__wrap___getdelim(&line, &size, ';', stream) == 4 && strcmp(line, "two;") == 0, "a part");
    need(used >= size && used < size + OVERHEAD + 64, "it counts once");
    no_entry = true;
    need(__wrap_getdelim(&line, &size, '\n', stream) == -1 && line == NULL, "no entry");
    no_entry = false;
    need(used == 0, "it is freed");
    need(__wrap_getline(NULL, &size, stream) == -1 && used == 0, "nowhere");
    (void)fclose(stream);
}

int main(void)
{
    blocks_that_fit();
    blocks_that_do_not_fit();
    no_memory_for_entries();
    blocks_that_change();
    blocks_of_others();
    lines();
    printf("good\n");
    return 0;
}
