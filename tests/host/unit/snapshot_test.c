/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: HOST-13 */
/*
 * Memory is put back as it was at a place, and the digest of a state depends on all of its memory
 * that makes a difference, and on nothing else.
 */
#include "record/output.h"
#include "search/pages.h"
#include "search/search.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { OPEN, OF_SPACE, OF_THREAD, PAGES };
enum { THREADS = 2, STACK = 16 * CHUNK };

static struct kernel state;
struct kernel *kernel = &state;
struct process process;
struct page *pages;
unsigned pages_count;

static struct page table[PAGES];
static struct thread threads[THREADS];
static struct space spaces[1];
static _Alignas(PAGE) uint64_t memory[PAGES][PAGE / sizeof(uint64_t)];
static _Alignas(CHUNK) char stacks[THREADS][STACK], first_stack[STACK];

void *pages_reserve(size_t size)
{
    return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                0);
}

/* One page is not watched, one belongs to the space, one to the first thread. */
void pages_find(void)
{
    pages = table;
    pages_count = PAGES;
    for (unsigned i = 0; i < PAGES; i++) {
        table[i] = (struct page){.live = (char *)memory[i], .owner = NO_OWNER, .learned = i > 0};
        memset(table[i].masks, 0xff, sizeof table[i].masks);
    }
    table[OF_SPACE].owner = 0;
    table[OF_THREAD].owner = 1;
    table[OPEN].masks[1] = 0xfd; /* the second word of the second chunk makes no difference */
}

unsigned pages_at(const void *address)
{
    const size_t offset = (size_t)((const char *)address - (const char *)memory);
    return offset < sizeof memory ? (unsigned)(offset / PAGE) : PAGES;
}

void pages_protect(void)
{
}

void give_up(int status, const char *format, ...)
{
    printf("%d: %s\n", status, format);
    exit(1);
}

static void need(bool good, const char *what)
{
    if (!good) {
        printf("%s\n", what);
        exit(1);
    }
}

static bool same(struct digest a, struct digest b)
{
    need((a.low == b.low) == (a.high == b.high), "both halves of a digest tell states apart");
    return a.low == b.low;
}

/* What the test has written, the system has. */
static void restore(const struct place *place)
{
    snapshot_run();
    snapshot_restore(place);
}

static struct place take(void)
{
    struct place place;
    snapshot_take(&place, &threads[0], threads[0].sp);
    return place;
}

static void first_writes(void)
{
    need(snapshot_bytes() == PAGE, "the page that is not watched counts from the beginning");
    need(!snapshot_wrote(&state) && !snapshot_wrote(memory[OPEN]), "neither is a first write");
    need(snapshot_wrote(&memory[OF_SPACE][3]) && snapshot_bytes() == 2 * PAGE, "a first write");
    need(!snapshot_wrote(memory[OF_SPACE]), "a second one");
    need(snapshot_wrote(memory[OF_THREAD]) && snapshot_bytes() == 3 * PAGE, "to another page");
}

/* Each change is seen, gives a digest of its own, and is undone. */
static void changes(void)
{
    struct {
        uint64_t *word;
        uint64_t value;
    } each[] = {
        {&memory[OPEN][0], 1},
        {&memory[OPEN][0], 2},
        {&memory[OPEN][1], 1},
        {&memory[OPEN][7], 1},
        {&memory[OPEN][8], 1},
        {&memory[OPEN][511], 1},
        {&memory[OPEN][0], 1ull << 63},
        {&memory[OPEN][1], 1ull << 63},
        {&memory[OF_SPACE][0], 1},
        {&memory[OF_SPACE][511], 1},
        {&memory[OF_SPACE][0], 1u << 31},
        {&memory[OF_THREAD][0], 1},
    };
    enum { COUNT = sizeof each / sizeof *each };
    const struct place first = take();
    struct digest seen[COUNT];
    for (unsigned i = 0; i < COUNT; i++) {
        *each[i].word = each[i].value;
        const struct place then = take();
        seen[i] = then.whole;
        need(!same(first.digest, then.digest) && !same(first.whole, then.whole), "a change");
        for (unsigned j = 0; j < i; j++) {
            need(!same(seen[j], seen[i]), "changes of different words, or to different values");
        }
        restore(&first);
        need(*each[i].word == 0, "a change is undone");
        need(same(take().whole, first.whole), "the state is the first one again");
    }
}

static void steps(void)
{
    uint64_t *word = &memory[OPEN][20];
    const struct place zero = take();
    *word = 1;
    const struct place one = take();
    *word = 2;
    memory[OF_SPACE][9] = 7;
    const struct place two = take();
    *word = 3;
    restore(&two);
    need(*word == 2 && memory[OF_SPACE][9] == 7, "what came after the last place is dropped");
    restore(&one);
    need(*word == 1 && memory[OF_SPACE][9] == 0, "one step back");
    need(same(take().whole, one.whole), "its digest");
    *word = 0;
    need(same(take().whole, zero.whole), "the way to a state makes no difference");
    *word = 2;
    memory[OF_SPACE][9] = 7;
    need(same(take().whole, two.whole), "nor here");
    restore(&zero);
    need(*word == 0 && memory[OF_SPACE][9] == 0, "several steps back");

    uint64_t *ignored = &memory[OPEN][9];
    *ignored = 5;
    const struct place masked = take();
    need(same(masked.whole, zero.whole), "a word that makes no difference");
    *ignored = 6;
    restore(&masked);
    need(*ignored == 5, "is put back, too");
    restore(&zero);
    need(*ignored == 0, "to what it was");
}

/* What the process knows goes with a place. */
static void of_the_process(void)
{
    process.strikes = 5;
    process.loaded = &threads[0];
    const struct place place = take();
    process.strikes = 6;
    memory[OF_SPACE][1] = 1; /* the thread that is loaded has run */
    memory[OF_THREAD][511] = 1;
    restore(&place);
    need(process.strikes == 5, "the process");
    need(memory[OF_SPACE][1] == 0 && memory[OF_THREAD][511] == 0, "what it has written");
    struct place of_another;
    snapshot_take(&of_another, &threads[1], threads[1].sp);
    restore(&place);
    memory[OF_THREAD][1] = 1;
    need(!same(take().whole, place.whole), "it runs on");
    restore(&place);
    process.strikes = 0;
}

static void at(unsigned offset)
{
    threads[0].sp = stacks[0] + offset;
}

/* Of a stack, what is above the stack pointer counts, and how deep it is. */
static void of_stacks(void)
{
    at(8 * CHUNK);
    memset(stacks[0] + 8 * CHUNK, 0x11, 8 * CHUNK);
    const struct place shallow = take();
    memset(stacks[0], 0x22, 8 * CHUNK);
    need(same(take().whole, shallow.whole), "what is below the stack pointer");
    stacks[0][STACK - 1] = 0x33;
    need(!same(take().whole, shallow.whole), "the first word on the stack");
    stacks[0][STACK - 1] = 0x11;
    need(same(take().whole, shallow.whole), "as before");
    stacks[0][8 * CHUNK] = 0x33;
    need(!same(take().whole, shallow.whole), "the last word on the stack");
    restore(&shallow);
    need(stacks[0][8 * CHUNK] == 0x11, "is put back");
    stacks[0][STACK - 1] = 0x33;
    restore(&shallow);
    need(stacks[0][STACK - 1] == 0x11, "at once, too");

    at(4 * CHUNK + 24);
    memset(stacks[0], 0x44, 8 * CHUNK);
    const struct place deep = take();
    need(!same(deep.whole, shallow.whole) && !same(deep.digest, shallow.digest), "a deeper stack");
    memset(stacks[0], 0x55, 4 * CHUNK + 24);
    need(same(take().whole, deep.whole), "what is below it in the same chunk");
    memset(stacks[0] + 4 * CHUNK + 24, 0x66, 8);
    need(!same(take().whole, deep.whole), "the word at the stack pointer");
    restore(&deep);
    need(stacks[0][4 * CHUNK + 24] == 0x44 && stacks[0][8 * CHUNK - 1] == 0x44, "it is put back");
    need(same(take().whole, deep.whole), "as deep as before");

    at(8 * CHUNK);
    need(same(take().whole, shallow.whole), "it returns to a state");
    at(4 * CHUNK + 24);
    memset(stacks[0], 0x44, 8 * CHUNK);
    need(same(take().whole, deep.whole), "and goes on to another");
    restore(&shallow);
    at(8 * CHUNK);
    need(same(take().whole, shallow.whole), "from there, back to the first");
    at(8 * CHUNK + 8);
    memset(stacks[0] + 8 * CHUNK, 0, 8);
    need(!same(take().whole, shallow.whole), "one word less");
    restore(&shallow);

    struct place same_memory[2];
    memset(stacks[0] + 8 * CHUNK, 0, CHUNK);
    snapshot_take(&same_memory[0], &threads[0], stacks[0] + 8 * CHUNK);
    snapshot_take(&same_memory[1], &threads[0], stacks[0] + 8 * CHUNK + 8);
    need(same(same_memory[0].digest, same_memory[1].digest), "the same memory");
    need(!same(same_memory[0].whole, same_memory[1].whole), "but another stack pointer");
    restore(&shallow);
}

/* The stack pointer of a thread that waits is the one that it was saved with. */
static void of_another_thread(void)
{
    at(8 * CHUNK);
    threads[1].sp = stacks[1] + 12 * CHUNK;
    struct place first, then;
    snapshot_touch(&threads[1]);
    snapshot_take(&first, &threads[0], threads[0].sp);
    memset(stacks[1], 0x77, 12 * CHUNK);
    snapshot_touch(&threads[1]);
    snapshot_take(&then, &threads[0], threads[0].sp);
    need(same(first.whole, then.whole), "below its stack pointer");
    stacks[1][12 * CHUNK] = 0x77;
    snapshot_touch(&threads[1]);
    snapshot_take(&then, &threads[0], threads[0].sp);
    need(!same(first.whole, then.whole), "above it");
    restore(&first);
    need(stacks[1][12 * CHUNK] == 0, "put back");
    snapshot_take(&then, NULL, NULL);
    need(same(first.digest, then.digest), "no thread runs");

    threads[1].sp = stacks[1] + 8 * CHUNK;
    memset(stacks[1] + 8 * CHUNK, 0x44, 4 * CHUNK);
    snapshot_touch(&threads[1]);
    snapshot_take(&first, &threads[0], threads[0].sp);
    threads[1].sp = stacks[1] + 12 * CHUNK;
    snapshot_touch(&threads[1]);
    snapshot_take(&then, &threads[1], threads[1].sp);
    memset(stacks[1], 0x55, 12 * CHUNK); /* it was as deep again meanwhile */
    snapshot_take(&then, &threads[0], threads[0].sp);
    restore(&first);
    need(stacks[1][8 * CHUNK] == 0x44 && stacks[1][12 * CHUNK - 1] == 0x44, "a deeper stack");
}

/* Where it is decided what runs next, while no thread runs. */
static void of_the_first_stack(void)
{
    char *sp = first_stack + 4 * CHUNK;
    struct place first, then;
    snapshot_take(&first, NULL, sp);
    sp[-1] = 1;
    snapshot_take(&then, NULL, sp);
    need(same(first.whole, then.whole), "below the stack pointer");
    sp[0] = 1;
    snapshot_take(&then, NULL, sp);
    need(!same(first.whole, then.whole), "above it");
    restore(&first);
    need(sp[0] == 0, "put back");
    sp[0] = 1;
    restore(&first);
    need(sp[0] == 0, "at once, too");
    snapshot_take(&then, &threads[0], threads[0].sp);
    need(!same(first.digest, then.digest), "less of it is in use while a thread runs");
}

int main(void)
{
    state.threads = threads;
    state.spaces = spaces;
    state.thread_count = THREADS;
    state.space_count = 1;
    for (unsigned i = 0; i < THREADS; i++) {
        threads[i] = (struct thread){.number = i,
                                     .space = &spaces[0],
                                     .stack = stacks[i],
                                     .stack_top = stacks[i] + STACK,
                                     .sp = stacks[i] + STACK - CHUNK};
    }
    process.first_sp = first_stack + STACK - CHUNK;
    snapshot_initialise(first_stack, STACK);
    first_writes();
    changes();
    steps();
    of_the_process();
    of_stacks();
    of_another_thread();
    of_the_first_stack();
    printf("good\n");
    return 0;
}
