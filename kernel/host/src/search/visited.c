/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * The states that were seen, by 120 bits of their digests, with the number of preemptions that were
 * left when they were. Two different states have one digest with a probability of 2^-120 a pair.
 * All processes of a search share them.
 *
 * A state has a few places in each of several tables, each four times as large as the one before,
 * and is in the first table that had one of them free. So few states touch little memory, and
 * nothing is ever moved. As nothing is removed either, a free place says that the state is new.
 */
#include "search/search.h"

#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* A process that sets `low`, which is 0 in a free entry, sets `high` next. */
struct entry {
    _Atomic uint64_t low, high; /* the lowest byte of `high`: what was left, and one */
};

enum { FIRST_SIZE = 1 << 16, GROWTH = 4, MOST_TABLES = 16, PLACES = 8 };

static struct {
    struct entry *entries;
    size_t size; /* a power of two */
} tables[MOST_TABLES];
static unsigned number; /* of tables */

/* Bytes that programs can get now without others losing theirs. */
static size_t memory_available(void)
{
    size_t kib = 0;
    char line[128];
    FILE *file = fopen("/proc/meminfo", "re");
    while (file && kib == 0 && fgets(line, sizeof line, file)) {
        sscanf(line, "MemAvailable: %zu kB", &kib);
    }
    if (file) {
        fclose(file);
    }
    return kib > 0 ? kib << 10 : (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
}

/* The tables take at most half of the memory that is available, and none before it is needed. */
void visited_initialise(void)
{
    size_t left = memory_available() / 2 / sizeof(struct entry);
    for (size_t size = FIRST_SIZE; number < MOST_TABLES && size <= left; size *= GROWTH) {
        tables[number].entries = parts_map(size * sizeof(struct entry));
        tables[number++].size = size;
        left -= size;
    }
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
    unsigned table = 0;
    for (size_t i = 0;; i++) {
        if (i == PLACES && table + 1 < number) {
            table++;
            i = 0;
        }
        struct entry *entry = &tables[table].entries[(low + i) & (tables[table].size - 1)];
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
    for (unsigned i = 0; i < number; i++) {
        madvise(tables[i].entries, tables[i].size * sizeof(struct entry), MADV_REMOVE);
    }
    progress->distinct = 0;
}

/* In the last table a state has any number of places. Beyond that, looking for one takes too long.
 */
bool visited_full(uint64_t count)
{
    uint64_t most = 0;
    for (unsigned i = 0; i < number; i++) {
        most += tables[i].size;
    }
    return count > most - tables[number - 1].size / 4;
}
