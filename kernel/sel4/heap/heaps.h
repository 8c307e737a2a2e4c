/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The heaps of an address space that several instances share; the table is generated. */
#pragma once

#include <stddef.h>

struct camkes_sel4_heap {
    char *start;
    size_t size;
    void *(*malloc)(size_t size);
    void (*free)(void *memory);
    void *(*realloc)(void *memory, size_t size);
    void *(*aligned_alloc)(size_t alignment, size_t size);
};

/* What the build calls the copy of malloc() that belongs to heap `index`. */
#define CAMKES_SEL4_HEAP_COPY(index, bytes)                                                        \
    extern char camkes_heap_##index##_camkes_arena[bytes];                                         \
    void *camkes_heap_##index##_malloc(size_t size);                                               \
    void camkes_heap_##index##_free(void *memory);                                                 \
    void *camkes_heap_##index##_realloc(void *memory, size_t size);                                \
    void *camkes_heap_##index##_aligned_alloc(size_t alignment, size_t size);

#define CAMKES_SEL4_HEAP_RECORD(index)                                                             \
    {                                                                                              \
        .start = camkes_heap_##index##_camkes_arena,                                               \
        .size = sizeof(camkes_heap_##index##_camkes_arena),                                        \
        .malloc = camkes_heap_##index##_malloc,                                                    \
        .free = camkes_heap_##index##_free,                                                        \
        .realloc = camkes_heap_##index##_realloc,                                                  \
        .aligned_alloc = camkes_heap_##index##_aligned_alloc,                                      \
    }

extern const struct camkes_sel4_heap camkes_sel4_heaps[];
extern const unsigned camkes_sel4_heap_count;
