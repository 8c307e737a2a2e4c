/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * The small macros that component code takes for granted because seL4's libutils has them. On seL4
 * the file of this name is libutils' own.
 */
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <utils/time.h>

/* for the compiler */
#ifndef UNUSED
#define UNUSED __attribute__((unused))
#endif
#ifndef WEAK
#define WEAK __attribute__((weak))
#endif
#define USED __attribute__((used))
#define PACKED __attribute__((packed))
#define NORETURN __attribute__((noreturn))
#define CONST __attribute__((const))
#define PURE __attribute__((pure))
#define ALIGN(bytes) __attribute__((aligned(bytes)))
#define SECTION(name) __attribute__((section(name)))
#define NO_INLINE __attribute__((noinline))
#define ALWAYS_INLINE __attribute__((always_inline))
#define WARN_UNUSED_RESULT __attribute__((warn_unused_result))
#define FALLTHROUGH __attribute__((fallthrough))
#define likely(condition) __builtin_expect(!!(condition), 1)
#define unlikely(condition) __builtin_expect(!!(condition), 0)
#define UNREACHABLE() __builtin_unreachable()
#define STRINGIFY(tokens) CAMKES_UTIL_STRING(tokens)
#define CAMKES_UTIL_STRING(tokens) #tokens
#define compile_time_assert(name, condition) _Static_assert(condition, #name)

/* numbers */
#define BIT(n) ((uintptr_t)1 << (n))
#define MASK(n) (BIT(n) - 1)
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define DIV_ROUND_UP(n, unit) (((n) + (unit) - 1) / (unit))
#define ROUND_UP(n, unit) (DIV_ROUND_UP(n, unit) * (unit))
#define ROUND_UP_UNSAFE(n, unit) ROUND_UP(n, unit)
#define ROUND_DOWN(n, unit) ((n) / (unit) * (unit))
#define ALIGN_UP(n, unit) ROUND_UP(n, unit)
#define ALIGN_DOWN(n, unit) ROUND_DOWN(n, unit)
#define IS_ALIGNED(n, bits) (((uintptr_t)(n) & MASK(bits)) == 0)
/* the least power of two that is not below n > 0, for 32 bits */
#define NEXT_POWER_OF_2(n) ((n) <= 1 ? 1u : 1u << (32 - __builtin_clz((unsigned)(n) - 1)))
#define IS_POWER_OF_2(n) ((n) != 0 && ((n) & ((n) - 1)) == 0)
/* constant expressions, if their arguments are */
#define MIN_UNSAFE(a, b) ((a) < (b) ? (a) : (b))
#define MAX_UNSAFE(a, b) ((a) > (b) ? (a) : (b))
#ifndef MIN
#define MIN(a, b)                                                                                  \
    ({                                                                                             \
        __typeof__(a) min_a = (a);                                                                 \
        __typeof__(b) min_b = (b);                                                                 \
        min_a < min_b ? min_a : min_b;                                                             \
    })
#endif
#ifndef MAX
#define MAX(a, b)                                                                                  \
    ({                                                                                             \
        __typeof__(a) max_a = (a);                                                                 \
        __typeof__(b) max_b = (b);                                                                 \
        max_a > max_b ? max_a : max_b;                                                             \
    })
#endif

/* memory */
#define PAGE_BITS_4K 12
#define PAGE_SIZE_4K 4096
#define IS_ALIGNED_4K(n) IS_ALIGNED(n, PAGE_BITS_4K)
#define KiB(n) ((size_t)(n) << 10)
#define MiB(n) ((size_t)(n) << 20)
#define COMPILER_MEMORY_FENCE() __atomic_signal_fence(__ATOMIC_ACQ_REL)
#define COMPILER_MEMORY_ACQUIRE() __atomic_signal_fence(__ATOMIC_ACQUIRE)
#define COMPILER_MEMORY_RELEASE() __atomic_signal_fence(__ATOMIC_RELEASE)
#define THREAD_MEMORY_FENCE() __atomic_thread_fence(__ATOMIC_ACQ_REL)
#define THREAD_MEMORY_ACQUIRE() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#define THREAD_MEMORY_RELEASE() __atomic_thread_fence(__ATOMIC_RELEASE)

/* logging: errors and worse are printed, the rest is not */
#define CAMKES_UTIL_LOG(level, ...)                                                                \
    (fprintf(stderr, "%s %s:%d: ", level, __func__, __LINE__), fprintf(stderr, __VA_ARGS__),       \
     (void)fputc('\n', stderr))
#define ZF_LOGF(...) (CAMKES_UTIL_LOG("fatal", __VA_ARGS__), __builtin_trap())
#define ZF_LOGE(...) CAMKES_UTIL_LOG("error", __VA_ARGS__)
#define ZF_LOGW(...) CAMKES_UTIL_LOG("warning", __VA_ARGS__)
#define ZF_LOGI(...) ((void)0)
#define ZF_LOGD(...) ((void)0)
#define ZF_LOGV(...) ((void)0)
#define ZF_LOGF_IF(condition, ...) ((condition) ? ZF_LOGF(__VA_ARGS__) : (void)0)
#define ZF_LOGE_IF(condition, ...) ((condition) ? ZF_LOGE(__VA_ARGS__) : (void)0)
#define ZF_LOGW_IF(condition, ...) ((condition) ? ZF_LOGW(__VA_ARGS__) : (void)0)
