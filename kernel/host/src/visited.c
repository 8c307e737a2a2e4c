/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * The states that were seen, by 120 bits of their digests, with the number of preemptions that were
 * left when they were. Two different states have one digest with a probability of 2^-120 a pair.
 * All processes of a search share them.
 */
#include "search.h"

#include <sched.h>
#include <sys/mman.h>

/* A process that sets `low`, which is 0 in a free entry, sets `high` next. */
struct entry {
    _Atomic uint64_t low, high; /* the lowest byte of `high`: what was left, and one */
};

static struct entry *entries;
static size_t size; /* a power of two */

void visited_initialise(size_t wanted)
{
    size = 1024;
    while (size < wanted) {
        size *= 2;
    }
    entries = parts_map(size * sizeof *entries);
}

static uint64_t high_of(struct entry *entry)
{
    uint64_t high;
    while ((high = atomic_load_explicit(&entry->high, memory_order_acquire)) == 0) {
        sched_yield(); /* another process is about to set it */
    }
    return high;
}

/* Whether the state is new, or was seen only with less left. (That it was is exact only while one
 * process searches.) */
bool visited_add(struct digest digest, unsigned left)
{
    const uint64_t low = digest.low ? digest.low : 1;
    const uint64_t high = digest.high & ~(uint64_t)0xff;
    const uint64_t mark = left < 254 ? left + 1 : 255;
    for (size_t i = low;; i++) {
        struct entry *entry = &entries[i & (size - 1)];
        uint64_t found = 0;
        if (atomic_compare_exchange_strong(&entry->low, &found, low)) {
            atomic_store_explicit(&entry->high, high | mark, memory_order_release);
            progress->distinct++;
            return true;
        }
        if (found == low && (high_of(entry) & ~(uint64_t)0xff) == high) {
            const bool more = (high_of(entry) & 0xff) < mark;
            if (more) {
                entry->high = high | mark;
            }
            return more;
        }
    }
}

void visited_forget(void)
{
    madvise(entries, size * sizeof *entries, MADV_REMOVE);
    progress->distinct = 0;
}

/* Beyond that, looking for a state takes too long. */
bool visited_full(uint64_t count)
{
    return count > size / 8 * 7;
}
