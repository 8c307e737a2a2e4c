/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * The states that were seen, by 120 bits of their digests, with the number of preemptions that were
 * left when they were. Two different states have one digest with a probability of 2^-120 a pair.
 */
#include "output.h"
#include "search.h"

#include <sys/mman.h>

struct entry {
    uint64_t low, high; /* the lowest byte of `high`: what was left, and one */
};

static struct entry *entries;
static size_t size; /* a power of two */
static uint64_t count;

void visited_initialise(size_t wanted)
{
    size = 1024;
    while (size < wanted) {
        size *= 2;
    }
    entries = mmap(NULL, size * sizeof *entries, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (entries == MAP_FAILED) {
        give_up(3, "no memory for the states of a search");
    }
}

/* Whether the state is new, or was seen only with less left. */
bool visited_add(struct digest digest, unsigned left)
{
    const uint64_t high = digest.high & ~(uint64_t)0xff;
    const uint64_t mark = left < 254 ? left + 1 : 255;
    for (size_t i = digest.low;; i++) {
        struct entry *entry = &entries[i & (size - 1)];
        if (entry->high == 0) {
            *entry = (struct entry){digest.low, high | mark};
            count++;
            return true;
        }
        if (entry->low == digest.low && (entry->high & ~(uint64_t)0xff) == high) {
            const bool more = (entry->high & 0xff) < mark;
            if (more) {
                entry->high = high | mark;
            }
            return more;
        }
    }
}

void visited_forget(void)
{
    madvise(entries, size * sizeof *entries, MADV_DONTNEED);
    count = 0;
}

uint64_t visited_count(void)
{
    return count;
}

/* Beyond that, looking for a state takes too long. */
bool visited_full(void)
{
    return count > size / 8 * 7;
}
