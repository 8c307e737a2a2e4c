/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Memory that can be put back, and a digest of what is in it.
 *
 * All memory that the system under search can write to is compared, in chunks of 64 bytes, with a
 * copy as of the last snapshot. A chunk that differs goes to a log with its old content, the copy
 * and the digest, of what is not as at the beginning, follow. Going back means to undo the log.
 * Pages are read-only until they are written to for the first time; only those that were are
 * compared from then on. Of a stack, what is below the stack pointer does not count; chunks there
 * are not part of the digest.
 */
#include "record/output.h"
#include "search/pages.h"
#include "search/search.h"

#include <string.h>
#include <sys/mman.h>

/* Snapshots in which a page is looked at in vain. */
static const unsigned PATIENCE = 64;

static const size_t LOG_BYTES = (size_t)8 << 30; /* of addresses; only what is used costs memory */

struct stack {
    char *live, *copy;
    unsigned chunks; /* in all */
    unsigned first;  /* that is in use */
};

/* An old content; or, with `live` NULL, what was in use of a stack. */
struct change {
    char *live;
    void *where;
    uint64_t old[WORDS];
};

static struct stack *stacks;           /* of threads, and the first stack */
static unsigned *active, active_count; /* pages that were written to */
static bool ran;                       /* the system, since memory was as its copies */
static bool *touched; /* spaces and then threads: whether they ran since the last snapshot */
static unsigned owners;
static struct change *changes;
static size_t change_count;
static struct digest digest;

/* ---- digests ---- */

static struct digest digest_of(const char *live, const uint64_t *words, uint8_t mask)
{
    uint64_t a = (uint64_t)(uintptr_t)live * 0x9e3779b97f4a7c15u;
    uint64_t b = (uint64_t)(uintptr_t)live ^ 0xc2b2ae3d27d4eb4fu;
    for (unsigned i = 0; i < WORDS; i++) {
        const uint64_t word = mask >> i & 1 ? words[i] : 0;
        a = (a ^ word) * 0xff51afd7ed558ccdu;
        a ^= a >> 32;
        b = (b + word) * 0xc4ceb9fe1a85ec53u;
        b ^= b >> 29;
    }
    return (struct digest){a, b * 0x9e3779b97f4a7c15u};
}

static void toggle(const char *live, const void *content, uint8_t mask)
{
    uint64_t words[WORDS];
    memcpy(words, content, CHUNK);
    const struct digest of = digest_of(live, words, mask);
    digest.low ^= of.low;
    digest.high ^= of.high;
}

static struct change *add_change(void)
{
    if ((change_count + 1) * sizeof *changes > LOG_BYTES) {
        give_up(3, "the search needs too much memory");
    }
    return &changes[change_count++];
}

static void note(char *live, char *copy, uint8_t mask)
{
    struct change *change = add_change();
    change->live = live;
    change->where = copy;
    memcpy(change->old, copy, CHUNK);
    toggle(live, copy, mask);
    memcpy(copy, live, CHUNK);
    toggle(live, copy, mask);
}

/* ---- what is compared ---- */

static bool differs(const char *a, const char *b)
{
    uint64_t x[WORDS], y[WORDS], all = 0;
    memcpy(x, a, CHUNK);
    memcpy(y, b, CHUNK);
    for (unsigned i = 0; i < WORDS; i++) {
        all |= x[i] ^ y[i];
    }
    return all != 0;
}

/* A thread runs, or gets a message. */
void snapshot_touch(const struct thread *thread)
{
    touched[thread->space->number] = true;
    touched[kernel->space_count + thread->number] = true;
}

/* The system goes on. */
void snapshot_run(void)
{
    ran = true;
}

static void begin_interval(const struct thread *runs)
{
    ran = false;
    memset(touched, 0, owners * sizeof *touched);
    touched[owners - 1] = true; /* the first stack */
    if (runs) {
        snapshot_touch(runs);
    }
}

/* What belongs to a space or thread has changed only if it ran: components that write to each
 * other's memory are not for a search. */
static bool may_differ(const struct page *page)
{
    return page->owner == NO_OWNER || touched[page->owner];
}

/* A page that was the same for long is read-only again, and for longer the next time: it is not
 * looked at until it is written to. */
static bool is_at_rest(struct page *page)
{
    if (++page->same < page->patience || !page->learned ||
        mprotect(page->live, PAGE, PROT_READ) != 0) {
        return false;
    }
    page->patience *= 2;
    page->same = 0;
    page->active = false;
    return true;
}

static void compare_pages(void)
{
    for (unsigned i = 0; i < active_count; i++) {
        struct page *page = &pages[active[i]];
        if (!may_differ(page)) {
            continue;
        }
        if (memcmp(page->live, page->copy, PAGE) == 0) {
            if (is_at_rest(page)) {
                active[i--] = active[--active_count];
            }
            continue;
        }
        page->same = 0;
        for (unsigned j = 0; j < CHUNKS; j++) {
            if (differs(page->live + j * CHUNK, page->copy + j * CHUNK)) {
                note(page->live + j * CHUNK, page->copy + j * CHUNK, page->masks[j]);
            }
        }
    }
}

static void compare_stack(struct stack *stack, const char *sp)
{
    const unsigned first = (unsigned)((size_t)(sp - stack->live) / CHUNK);
    if (sp < stack->live || first >= stack->chunks) {
        return;
    }
    memset(stack->live + first * CHUNK, 0, (size_t)(sp - stack->live) % CHUNK);
    if (first != stack->first) {
        struct change *change = add_change();
        *change = (struct change){.where = stack, .old = {stack->first}};
        for (unsigned i = stack->first; i < first; i++) { /* not in use any more */
            toggle(stack->live + i * CHUNK, stack->copy + i * CHUNK, 0xff);
        }
        for (unsigned i = first; i < stack->first; i++) { /* in use again */
            toggle(stack->live + i * CHUNK, stack->copy + i * CHUNK, 0xff);
        }
        stack->first = first;
    }
    for (unsigned i = first; i < stack->chunks; i++) {
        if (differs(stack->live + i * CHUNK, stack->copy + i * CHUNK)) {
            note(stack->live + i * CHUNK, stack->copy + i * CHUNK, 0xff);
        }
    }
}

/* `loaded` is the thread that runs, whose stack pointer is `sp`; NULL: none. */
void snapshot_take(struct place *place, const struct thread *loaded, const void *sp)
{
    compare_pages();
    for (unsigned i = 0; i < kernel->thread_count; i++) {
        const struct thread *thread = &kernel->threads[i];
        if (touched[kernel->space_count + i]) {
            compare_stack(&stacks[i], thread == loaded ? sp : thread->sp);
        }
    }
    compare_stack(&stacks[kernel->thread_count], loaded ? process.first_sp : sp);
    begin_interval(loaded);
    const uint64_t words[WORDS] = {(uint64_t)(uintptr_t)sp};
    const struct digest with = digest_of(NULL, words, 0xff);
    place->log = change_count;
    place->digest = digest;
    place->whole = (struct digest){digest.low ^ with.low, digest.high ^ with.high};
    place->process = process;
}

static void discard(char *live, const char *copy)
{
    if (differs(live, copy)) {
        memcpy(live, copy, CHUNK);
    }
}

void snapshot_restore(const struct place *place)
{
    for (unsigned i = 0; ran && i < active_count; i++) {
        const struct page *page = &pages[active[i]];
        if (!may_differ(page) || memcmp(page->live, page->copy, PAGE) == 0) {
            continue;
        }
        for (unsigned j = 0; j < CHUNKS; j++) {
            discard(page->live + j * CHUNK, page->copy + j * CHUNK);
        }
    }
    while (change_count > place->log) {
        const struct change *change = &changes[--change_count];
        if (change->live) {
            memcpy(change->live, change->old, CHUNK);
            memcpy(change->where, change->old, CHUNK);
        } else {
            struct stack *stack = change->where;
            stack->first = (unsigned)change->old[0];
            touched[kernel->space_count + (unsigned)(stack - stacks)] = true;
        }
    }
    for (unsigned i = 0; i <= kernel->thread_count; i++) {
        const struct stack *stack = &stacks[i];
        for (unsigned j = stack->first; touched[kernel->space_count + i] && j < stack->chunks;
             j++) {
            discard(stack->live + j * CHUNK, stack->copy + j * CHUNK);
        }
    }
    digest = place->digest;
    process = place->process;
    begin_interval(process.loaded);
}

/* ---- what there is ---- */

static void activate(unsigned number)
{
    struct page *page = &pages[number];
    if (page->patience == 0) {
        memcpy(page->copy, page->live,
               PAGE); /* as at the beginning: that adds nothing to the digest */
        page->patience = PATIENCE;
    }
    page->active = true;
    active[active_count++] = number;
}

/* A signal handler's question: a page that is written to for the first time can be from now on. */
bool snapshot_wrote(void *address)
{
    const unsigned number = pages_at(address);
    if (number == pages_count || !pages[number].learned || pages[number].active) {
        return false; /* something else is wrong */
    }
    activate(number);
    return mprotect(pages[number].live, PAGE, PROT_READ | PROT_WRITE) == 0;
}

static struct stack make_stack(char *start, size_t size)
{
    const unsigned chunks = (unsigned)(size / CHUNK);
    return (struct stack){start, pages_reserve(size), chunks, chunks};
}

void snapshot_initialise(char *first_stack, size_t size)
{
    pages_find();
    active = pages_reserve(pages_count * sizeof *active);
    changes = pages_reserve(LOG_BYTES);
    stacks = pages_reserve((kernel->thread_count + 1) * sizeof *stacks);
    owners = kernel->space_count + kernel->thread_count + 1;
    touched = pages_reserve(owners * sizeof *touched);
    memset(touched, 1, owners * sizeof *touched);
    char *copies = pages_reserve((size_t)pages_count * PAGE);
    for (unsigned i = 0; i < pages_count; i++) {
        pages[i].copy = copies + (size_t)i * PAGE;
        if (!pages[i].learned) {
            activate(i);
        }
    }
    for (unsigned i = 0; i < kernel->thread_count; i++) {
        const struct thread *thread = &kernel->threads[i];
        stacks[i] = make_stack(thread->stack, (size_t)(thread->stack_top - thread->stack));
    }
    stacks[kernel->thread_count] = make_stack(first_stack, size);
    pages_protect();
}

/* Memory that is compared at every state. */
size_t snapshot_bytes(void)
{
    return (size_t)active_count * PAGE;
}
