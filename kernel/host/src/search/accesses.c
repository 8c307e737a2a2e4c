/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * What compilers call before accesses to memory, with -fsanitize=thread. With --arrivals such a
 * place in a thread that serves requests is one where it may be preempted. In a search, two threads
 * of an address space race if one accesses what the other is about to, and one of them writes:
 * nothing keeps the other from going first. Accesses to a thread's own stack and variables,
 * and atomic ones, do not count.
 */
#include "entry/entry.h"
#include "scheduling/scheduling.h"
#include "state.h"

#include <stdatomic.h>

#define EXPORTED __attribute__((visibility("default")))

static bool is_watched(const struct thread *self, const char *address)
{
    if (!self || !self->serves) {
        return false;
    }
    const char *storage = self->space->storage;
    const bool own = address >= self->stack && address < self->stack_top;
    return !own && !(address >= storage && address < storage + self->space->storage_size);
}

static bool conflict(const struct access *a, const struct access *b)
{
    return b->size > 0 && (a->write || b->write) && a->address < b->address + b->size &&
           b->address < a->address + a->size;
}

static void check(const struct thread *self)
{
    for (unsigned i = 0; hooks.race && i < kernel->thread_count; i++) {
        const struct thread *other = &kernel->threads[i];
        if (other != self && other->space == self->space &&
            conflict(&self->access, &other->access)) {
            hooks.race(self, other);
        }
    }
}

static void access_to(const void *address, size_t size, bool write, const void *from)
{
    struct thread *self = process.loaded;
    if (!kernel->options.arrivals || !is_watched(self, address)) {
        return;
    }
    kernel_enter_quietly();
    self->access =
        (struct access){(uint64_t)(uintptr_t)address, (uint64_t)(uintptr_t)from, size, write};
    kernel_point(self);
    check(self);
    self->access = (struct access){0};
    kernel_leave(self);
}

#define FROM __builtin_return_address(0)

#define ACCESS(name, size, write)                                                                  \
    EXPORTED void __tsan_##name(void *address);                                                    \
    void __tsan_##name(void *address)                                                              \
    {                                                                                              \
        access_to(address, size, write, FROM);                                                     \
    }

#define ACCESSES(size)                                                                             \
    ACCESS(read##size, size, false)                                                                \
    ACCESS(write##size, size, true)                                                                \
    ACCESS(unaligned_read##size, size, false)                                                      \
    ACCESS(unaligned_write##size, size, true)                                                      \
    ACCESS(volatile_read##size, size, false)                                                       \
    ACCESS(volatile_write##size, size, true)                                                       \
    ACCESS(unaligned_volatile_read##size, size, false)                                             \
    ACCESS(unaligned_volatile_write##size, size, true)                                             \
    ACCESS(read_write##size, size, true)                                                           \
    ACCESS(unaligned_read_write##size, size, true)

ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)

EXPORTED void __tsan_read_range(void *address, unsigned long size);
EXPORTED void __tsan_write_range(void *address, unsigned long size);
EXPORTED void __tsan_vptr_update(void **address, void *value);
EXPORTED void __tsan_vptr_read(void **address);
EXPORTED void __tsan_init(void);
EXPORTED void __tsan_func_entry(void *caller);
EXPORTED void __tsan_func_exit(void);

void __tsan_read_range(void *address, unsigned long size)
{
    access_to(address, size, false, FROM);
}

void __tsan_write_range(void *address, unsigned long size)
{
    access_to(address, size, true, FROM);
}

void __tsan_vptr_update(void **address, void *value)
{
    (void)value;
    access_to(address, sizeof *address, true, FROM);
}

void __tsan_vptr_read(void **address)
{
    access_to(address, sizeof *address, false, FROM);
}

void __tsan_init(void)
{
}

void __tsan_func_entry(void *caller)
{
    (void)caller;
}

void __tsan_func_exit(void)
{
}

/* ---- atomic accesses: places for a preemption, and no races ---- */

static void atomic_point(const void *address)
{
    struct thread *self = process.loaded;
    if (kernel->options.arrivals && is_watched(self, address)) {
        kernel_enter_quietly();
        kernel_point(self);
        kernel_leave(self);
    }
}

/* Whatever order is asked for, there is one processor and no other thread at the same time. */
#define CHANGE(bits, name, expression)                                                             \
    EXPORTED uint##bits##_t __tsan_atomic##bits##_##name(volatile uint##bits##_t *at,              \
                                                         uint##bits##_t value, int order);         \
    uint##bits##_t __tsan_atomic##bits##_##name(volatile uint##bits##_t *at, uint##bits##_t value, \
                                                int order)                                         \
    {                                                                                              \
        (void)order;                                                                               \
        atomic_point((const void *)(uintptr_t)at);                                                 \
        const uint##bits##_t old = *at;                                                            \
        *at = (uint##bits##_t)(expression);                                                        \
        return old;                                                                                \
    }

#define ATOMIC(bits)                                                                               \
    CHANGE(bits, exchange, value)                                                                  \
    CHANGE(bits, fetch_add, old + value)                                                           \
    CHANGE(bits, fetch_sub, old - value)                                                           \
    CHANGE(bits, fetch_and, old &value)                                                            \
    CHANGE(bits, fetch_or, old | value)                                                            \
    CHANGE(bits, fetch_xor, old ^ value)                                                           \
    CHANGE(bits, fetch_nand, ~(old & value))                                                       \
    EXPORTED uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *at,          \
                                                       int order);                                 \
    uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *at, int order)        \
    {                                                                                              \
        (void)order;                                                                               \
        atomic_point((const void *)(uintptr_t)at);                                                 \
        return *at;                                                                                \
    }                                                                                              \
    EXPORTED void __tsan_atomic##bits##_store(volatile uint##bits##_t *at, uint##bits##_t value,   \
                                              int order);                                          \
    void __tsan_atomic##bits##_store(volatile uint##bits##_t *at, uint##bits##_t value, int order) \
    {                                                                                              \
        (void)order;                                                                               \
        atomic_point((const void *)(uintptr_t)at);                                                 \
        *at = value;                                                                               \
    }                                                                                              \
    EXPORTED int __tsan_atomic##bits##_compare_exchange_strong(                                    \
        volatile uint##bits##_t *at, uint##bits##_t *expected, uint##bits##_t value, int order,    \
        int failure);                                                                              \
    int __tsan_atomic##bits##_compare_exchange_strong(                                             \
        volatile uint##bits##_t *at, uint##bits##_t *expected, uint##bits##_t value, int order,    \
        int failure)                                                                               \
    {                                                                                              \
        (void)order;                                                                               \
        (void)failure;                                                                             \
        atomic_point((const void *)(uintptr_t)at);                                                 \
        const uint##bits##_t old = *at;                                                            \
        const bool same = old == *expected;                                                        \
        *at = same ? value : old;                                                                  \
        *expected = old;                                                                           \
        return same;                                                                               \
    }                                                                                              \
    EXPORTED int __tsan_atomic##bits##_compare_exchange_weak(                                      \
        volatile uint##bits##_t *at, uint##bits##_t *expected, uint##bits##_t value, int order,    \
        int failure);                                                                              \
    int __tsan_atomic##bits##_compare_exchange_weak(volatile uint##bits##_t *at,                   \
                                                    uint##bits##_t *expected,                      \
                                                    uint##bits##_t value, int order, int failure)  \
    {                                                                                              \
        return __tsan_atomic##bits##_compare_exchange_strong(at, expected, value, order, failure); \
    }

ATOMIC(8)
ATOMIC(16)
ATOMIC(32)
ATOMIC(64)

EXPORTED void __tsan_atomic_thread_fence(int order);
EXPORTED void __tsan_atomic_signal_fence(int order);

void __tsan_atomic_thread_fence(int order)
{
    (void)order;
}

void __tsan_atomic_signal_fence(int order)
{
    (void)order;
}
