/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * What compilers call before accesses to memory, with -fsanitize=thread, and library.c for the C
 * library. With --arrivals such a place is one where the thread may be preempted.
 *
 * In a search, two threads race if one is about to access what the other is about to, one of them
 * writes, and not both accesses are of the kind that cannot be torn: nothing keeps the other from
 * going first. All orders are searched, so each race leads to such a state, and accesses that a
 * lock keeps apart never do. A thread's own variables do not count, nor does its own stack, unless
 * another thread was given an address of it.
 */
#include "search/accesses.h"
#include "entry/entry.h"
#include "scheduling/scheduling.h"
#include "state.h"

#include <errno.h>
#include <stdatomic.h>

#define EXPORTED __attribute__((visibility("default")))

static bool contains(const void *start, const void *end, const char *address)
{
    return address >= (const char *)start && address < (const char *)end;
}

/* Memory of several address spaces is at another address in each. */
static uint64_t place_of(const struct space *space, const char *address)
{
    for (unsigned i = 0; i < space->mapping_count; i++) {
        const struct mapping *mapping = &space->mappings[i];
        const char *start = mapping->place;
        if (contains(start, start + mapping->region->region.size, address)) {
            return SHARED_PLACE + (uint64_t)mapping->region->region.offset +
                   (uint64_t)(address - start);
        }
    }
    return (uint64_t)(uintptr_t)address;
}

static enum reach reach_of(const struct thread *self, const char *address)
{
    if (contains(self->stack, self->stack_top, address)) {
        return REACH_OWN;
    }
    const struct thread *last = &kernel->threads[kernel->thread_count - 1];
    return contains(kernel->stacks, last->stack_top, address) ? REACH_STACK : REACH_ANY;
}

static bool conflict(const struct access *a, const struct access *b)
{
    return b->size > 0 && (a->write || b->write) && !(a->whole && b->whole) &&
           a->place < b->place + b->size && b->place < a->place + a->size;
}

static void check(const struct thread *self)
{
    for (unsigned i = 0; hooks.race && i < kernel->thread_count; i++) {
        const struct thread *other = &kernel->threads[i];
        if (other != self && conflict(&self->access, &other->access)) {
            hooks.race(self, other);
        }
    }
}

/* So many accesses count as one operation: a loop of nothing else is one, too. */
enum { ACCESSES_OF_OPERATION = 100 };

/* For those that are not points. */
static void count_access(struct thread *self)
{
    static uint64_t entries;
    static unsigned count;
    if (entries != kernel->entries) {
        entries = kernel->entries;
        count = 0;
    }
    if (++count == ACCESSES_OF_OPERATION) {
        kernel_enter_quietly();
        kernel_leave(self);
    }
}

static void point(struct thread *self, const struct access *access)
{
    kernel_enter_quietly();
    if (kernel->accesses++ % ACCESSES_OF_OPERATION != 0) {
        kernel->calls--;
    }
    self->access = *access;
    kernel_point(self);
    check(self);
    self->access = (struct access){0};
    kernel_leave(self);
}

/* Of a thread alone: its variables, and the C library's error number. */
static bool is_own(const struct space *space, const char *address)
{
    const char *storage = space->storage;
    return contains(storage, storage + space->storage_size, address) ||
           contains(&errno, &errno + 1, address);
}

static void access_to(const void *address, size_t size, bool write, bool whole, const void *from)
{
    struct thread *self = process.loaded;
    if (!self || size == 0 || !(hooks.access || kernel->options.arrivals) ||
        is_own(self->space, address)) {
        return;
    }
    struct access access = {.place = place_of(self->space, address),
                            .from = (uint64_t)(uintptr_t)from,
                            .size = size,
                            .write = write,
                            .whole = whole};
    if (!kernel->options.arrivals ||
        (hooks.access && !hooks.access(self, &access, reach_of(self, address)))) {
        count_access(self);
    } else {
        point(self, &access);
    }
}

void accesses_range(const void *address, size_t size, bool write, const void *from)
{
    access_to(address, size, write, false, from);
}

#define FROM __builtin_return_address(0)

/* What is of one word and aligned is accessed at once. */
static bool is_word(const void *address, size_t size)
{
    return size <= sizeof(seL4_Word) && (uintptr_t)address % size == 0;
}

#define ACCESS(name, size, write, volatile)                                                        \
    EXPORTED void __tsan_##name(void *address);                                                    \
    void __tsan_##name(void *address)                                                              \
    {                                                                                              \
        access_to(address, size, write, (volatile) && is_word(address, size), FROM);               \
    }

#define ACCESSES(size)                                                                             \
    ACCESS(read##size, size, false, false)                                                         \
    ACCESS(write##size, size, true, false)                                                         \
    ACCESS(unaligned_read##size, size, false, false)                                               \
    ACCESS(unaligned_write##size, size, true, false)                                               \
    ACCESS(volatile_read##size, size, false, true)                                                 \
    ACCESS(volatile_write##size, size, true, true)                                                 \
    ACCESS(unaligned_volatile_read##size, size, false, true)                                       \
    ACCESS(unaligned_volatile_write##size, size, true, true)                                       \
    ACCESS(read_write##size, size, true, false)                                                    \
    ACCESS(unaligned_read_write##size, size, true, false)

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
    access_to(address, size, false, false, FROM);
}

void __tsan_write_range(void *address, unsigned long size)
{
    access_to(address, size, true, false, FROM);
}

void __tsan_vptr_update(void **address, void *value)
{
    (void)value;
    access_to(address, sizeof *address, true, false, FROM);
}

void __tsan_vptr_read(void **address)
{
    access_to(address, sizeof *address, false, false, FROM);
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

/* ---- atomic accesses: no races among each other ---- */

/* Whatever order is asked for, there is one processor and no other thread at the same time. */
#define ATOMIC_ACCESS(at, write)                                                                   \
    access_to((const void *)(uintptr_t)(at), sizeof *(at), write, true, FROM)

#define CHANGE(bits, name, expression)                                                             \
    EXPORTED uint##bits##_t __tsan_atomic##bits##_##name(volatile uint##bits##_t *at,              \
                                                         uint##bits##_t value, int order);         \
    uint##bits##_t __tsan_atomic##bits##_##name(volatile uint##bits##_t *at, uint##bits##_t value, \
                                                int order)                                         \
    {                                                                                              \
        (void)order;                                                                               \
        ATOMIC_ACCESS(at, true);                                                                   \
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
        ATOMIC_ACCESS(at, false);                                                                  \
        return *at;                                                                                \
    }                                                                                              \
    EXPORTED void __tsan_atomic##bits##_store(volatile uint##bits##_t *at, uint##bits##_t value,   \
                                              int order);                                          \
    void __tsan_atomic##bits##_store(volatile uint##bits##_t *at, uint##bits##_t value, int order) \
    {                                                                                              \
        (void)order;                                                                               \
        ATOMIC_ACCESS(at, true);                                                                   \
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
        ATOMIC_ACCESS(at, true);                                                                   \
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
