/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * malloc() where several instances share an address space. A thread takes memory from the heap of
 * its instance, whatever code it runs; memory goes back to the heap that it is from, whoever frees
 * it.
 */
#include "heaps.h"

#include "image_sel4.h"

#include <camkes/platform.h>
#include <camkes/tls.h>
#include <stdlib.h>

/* A thread has no number while it sets the C library up. */
static const struct camkes_sel4_heap *own(void)
{
    const unsigned number = camkes_get_tls()->thread_index;
    return &camkes_sel4_heaps[number > 0 ? camkes_sel4_image.threads[number - 1].heap : 0];
}

static const struct camkes_sel4_heap *heap_of(const void *memory)
{
    for (unsigned i = 0; i < camkes_sel4_heap_count; i++) {
        const struct camkes_sel4_heap *heap = &camkes_sel4_heaps[i];
        if ((size_t)((const char *)memory - heap->start) < heap->size) {
            return heap;
        }
    }
    camkes_platform_fault();
    return NULL;
}

void *malloc(size_t size)
{
    return own()->malloc(size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return own()->aligned_alloc(alignment, size);
}

void *realloc(void *memory, size_t size)
{
    return (memory != NULL ? heap_of(memory) : own())->realloc(memory, size);
}

void free(void *memory)
{
    if (memory != NULL) {
        heap_of(memory)->free(memory);
    }
}
