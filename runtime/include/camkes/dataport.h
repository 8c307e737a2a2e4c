/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Dataports, for component code. */
#pragma once

#if defined(__has_include_next) && !defined(CAMKES_KERNEL_HOST)
#if __has_include_next(<camkes/dataport.h>)
#define CAMKES_DATAPORT_OF_LIBRARY 1
#endif
#endif

#ifdef CAMKES_DATAPORT_OF_LIBRARY
/* libsel4camkes declares the same, and functions for device frames */
#include_next <camkes/dataport.h>
#else
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#if __has_include(<platsupport/io.h>)
#include <platsupport/io.h>
#else
/* What is done with caches between the processor and devices. */
typedef enum dma_cache_op {
    DMA_CACHE_OP_CLEAN,
    DMA_CACHE_OP_INVALIDATE,
    DMA_CACHE_OP_CLEAN_INVALIDATE,
} dma_cache_op_t;
#endif

/* The default type of a dataport. */
typedef struct camkes_buf {
    char content[4096];
} Buf;

/* A pointer into a dataport that is valid in other components as well. */
typedef struct dataport_ptr {
    int32_t id;
    off_t offset;
} dataport_ptr_t;
#endif

/* Values read after an acquire were written before the matching release. */
#define CAMKES_ACQUIRE() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#define CAMKES_RELEASE() __atomic_thread_fence(__ATOMIC_RELEASE)

/* Memory that only components share is coherent: no cache operation is needed. Returns a value
 * other than 0 if the range is outside the dataport. */
static inline int camkes_memory_cache_op(size_t total, size_t start, size_t size, int operation)
{
    (void)operation;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return start <= total && size <= total - start ? 0 : -1;
}
