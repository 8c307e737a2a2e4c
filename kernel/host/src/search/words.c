/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * The words of memory that threads share: that more than one of them accesses, and one writes.
 *
 * An access to another word commutes with all that other threads do, so only accesses to shared
 * words are points. Which words are shared is learnt by the search itself: a round has points at
 * those that were found before, and it is repeated until one finds no more. Then every access that
 * is not a point is to a word that, in all schedules, only one thread accesses, or none writes.
 *
 * All processes of a search know the same words. They are not part of a state.
 */
#include "search/search.h"

#include <string.h>

/* `word` 0: the entry is free. `users` is the number of the thread that was there first, and one,
 * with what is known beside; `round` the first one in which accesses are points, 0: none. */
struct word {
    _Atomic uint64_t word;
    _Atomic uint32_t users;
    _Atomic uint32_t round;
};

enum { WORDS_SHIFT = 22, SIZE_SHIFT = 3, MOST_TRIES = 64 };
enum { FIRST = 0xffff, WRITTEN = 1 << 16, SEVERAL = 1 << 17 };

static struct {
    _Atomic uint32_t round; /* 0: every access is a point */
    _Atomic bool grew;
    struct word words[1 << WORDS_SHIFT];
} *known;

static bool shows_all;

/* The entry of a word, which it gets; NULL: the table is full. */
static struct word *find(uint64_t word)
{
    const uint64_t hash = word * 0x9e3779b97f4a7c15u >> (64 - WORDS_SHIFT);
    for (unsigned i = 0; i < MOST_TRIES; i++) {
        struct word *entry = &known->words[(hash + i) & ((1 << WORDS_SHIFT) - 1)];
        uint64_t found = atomic_load_explicit(&entry->word, memory_order_relaxed);
        if (found == word ||
            (found == 0 &&
             (atomic_compare_exchange_strong(&entry->word, &found, word) || found == word))) {
            return entry;
        }
    }
    return NULL;
}

static void note(struct word *entry, uint32_t first, uint32_t more)
{
    uint32_t users = atomic_load_explicit(&entry->users, memory_order_relaxed);
    uint32_t all;
    do {
        all = users | more | ((users & FIRST) == 0 ? first : 0);
        all |= (users & FIRST) != 0 && (users & FIRST) != first ? (uint32_t)SEVERAL : 0;
    } while (all != users && !atomic_compare_exchange_weak(&entry->users, &users, all));
    if ((all & WRITTEN) && (all & SEVERAL) && entry->round == 0) {
        entry->round = known->round + 1;
        known->grew = true;
    }
}

static bool is_point(const struct word *entry)
{
    const uint32_t round = atomic_load_explicit(&entry->round, memory_order_relaxed);
    return round != 0 && round <= known->round;
}

/* A thread is about to access memory: whether that is a point. */
bool words_use(const struct thread *thread, struct access *access, enum reach reach)
{
    if (known->round == 0) {
        return true;
    }
    bool point = false;
    const uint64_t last = (access->place + access->size - 1) >> SIZE_SHIFT;
    for (uint64_t word = access->place >> SIZE_SHIFT; word <= last; word++) {
        struct word *entry = find(word + 1);
        if (!entry) {
            return true;
        }
        if (reach != REACH_OWN) {
            note(entry, thread->number + 1,
                 (access->write ? (uint32_t)WRITTEN : 0) |
                     (reach == REACH_STACK ? (uint32_t)(WRITTEN | SEVERAL) : 0));
        }
        point = point || is_point(entry);
    }
    access->aside = !point;
    return point || shows_all;
}

/* Accesses to words of one thread are points, too, and marked: a schedule with all points is the
 * same where nothing is known about words. */
void words_show_all(void)
{
    shows_all = true;
}

/* Before there are several processes. */
void words_initialise(void)
{
    known = parts_map(sizeof *known);
}

/* From now on, only accesses to words that are known to be shared are points. */
void words_begin(void)
{
    known->round = 1;
}

/* Whether another round has more points. */
bool words_grew(void)
{
    return known->grew;
}

void words_next_round(void)
{
    known->round++;
    known->grew = false;
}
