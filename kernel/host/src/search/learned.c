/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * What a search learns about a system while it runs it. A round uses what those before it have
 * found, and is repeated until one finds no more, so all schedules of a round have the same
 * choices. All processes of a search know the same; it is not part of a state.
 *
 * The words of memory that threads share: that more than one of them accesses, and one writes. An
 * access to another word commutes with all that other threads do, so only accesses to shared words
 * are points. In the last round every access that is not a point is to a word that, in all
 * schedules, only one thread accesses, or none writes.
 *
 * How long after a work whose duration is between bounds another work ends, of the same thread or
 * done for it: the first can then take so long that the other one ends when a timer fires.
 */
#include "search/search.h"

#include <sched.h>
#include <string.h>

/* `word` 0: the entry is free. `users` is the number of the thread that was there first, and one,
 * with what is known beside; `round` the first one in which accesses are points, 0: none. */
struct word {
    _Atomic uint64_t word;
    _Atomic uint32_t users;
    _Atomic uint32_t round;
};

/* From the end that a work of a thread with these bounds has if nothing interrupts it. */
struct offset {
    unsigned thread;
    uint32_t round; /* the first one that uses it */
    uint64_t low, high, time;
};

enum { WORDS_SHIFT = 22, SIZE_SHIFT = 3, MOST_TRIES = 64, MOST_OFFSETS = 1024 };
enum { FIRST = 0xffff, WRITTEN = 1 << 16, SEVERAL = 1 << 17 };

static struct {
    _Atomic uint32_t round; /* 0: every access is a point */
    _Atomic bool grew, between;
    atomic_flag locked;
    _Atomic unsigned offset_count;
    struct offset offsets[MOST_OFFSETS];
    struct word words[1 << WORDS_SHIFT];
} *known;

static bool shows_all;

/* ---- words ---- */

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
bool learned_access(const struct thread *thread, struct access *access, enum reach reach)
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
void learned_show_all(void)
{
    shows_all = true;
}

/* ---- durations ---- */

static bool is_of(const struct offset *offset, const struct thread *thread,
                  const struct between *work)
{
    return offset->thread == thread->number && offset->low == work->low &&
           offset->high == work->high;
}

static void add_offset(const struct thread *thread, const struct between *work, uint64_t time)
{
    unsigned same = 0;
    for (unsigned i = 0; i < known->offset_count; i++) {
        const bool of_work = is_of(&known->offsets[i], thread, work);
        if (of_work && known->offsets[i].time == time) {
            return;
        }
        same += of_work;
    }
    if (known->offset_count < MOST_OFFSETS && same < MOST_OFFSETS_OF_WORK) {
        known->offsets[known->offset_count] =
            (struct offset){thread->number, known->round + 1, work->low, work->high, time};
        known->offset_count++;
        known->grew = true;
    }
}

/* A work of a thread ends now, which it does for those that wait for its reply, too. */
void learned_worked(const struct thread *thread)
{
    for (unsigned i = 0; i < kernel->thread_count; i++) {
        const struct thread *other = &kernel->threads[i];
        if (other != thread && other->state != THREAD_BLOCKED_REPLY) {
            continue;
        }
        for (unsigned j = 0; j < other->between_count; j++) {
            const struct between *work = &other->between[j];
            if (kernel->now > work->end) {
                while (atomic_flag_test_and_set(&known->locked)) {
                    sched_yield();
                }
                add_offset(other, work, kernel->now - work->end);
                atomic_flag_clear(&known->locked);
            }
        }
    }
}

/* How long after such a work others end. */
unsigned learned_offsets(const struct thread *thread, const struct between *work,
                         uint64_t times[static MOST_OFFSETS_OF_WORK])
{
    unsigned count = 0;
    known->between = true;
    for (unsigned i = 0; i < known->offset_count && count < MOST_OFFSETS_OF_WORK; i++) {
        const struct offset *offset = &known->offsets[i];
        if (is_of(offset, thread, work) && offset->round <= known->round) {
            times[count++] = offset->time;
        }
    }
    return count;
}

/* Whether there was a work with a duration between bounds. */
bool learned_between(void)
{
    return known->between;
}

/* ---- rounds ---- */

/* Before there are several processes. */
void learned_initialise(void)
{
    known = parts_map(sizeof *known);
}

/* From now on, only accesses to words that are known to be shared are points. */
void learned_begin(void)
{
    known->round = 1;
}

/* Whether another round has more choices. */
bool learned_grew(void)
{
    return known->grew;
}

void learned_next_round(void)
{
    known->round++;
    known->grew = false;
}
