/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Finds the memory that a system under search can write to: every mapping of this process but for
 * stacks (see snapshot.c), the kernel's streams and its own variables.
 */
#include "search/pages.h"
#include "isolation/faults.h"
#include "isolation/memory.h"
#include "record/output.h"
#include "search/search.h"

#include <errno.h>
#include <link.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MOST_PAGES = 1 << 18, MOST_RANGES = 1024 };

struct range {
    char *start, *end;
    unsigned first; /* page */
    unsigned owner;
    bool learned;
};

struct page *pages;
unsigned pages_count;

static struct {
    char *start, *end;
} mappings[MOST_RANGES];
static unsigned mapping_count;
static struct range ranges[MOST_RANGES];
static unsigned range_count;

void *pages_reserve(size_t size)
{
    void *place = mmap(NULL, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED) {
        give_up(3, "no memory for a search");
    }
    return place;
}

static char *page_down(const void *address)
{
    return (char *)((uintptr_t)address & ~(uintptr_t)(PAGE - 1));
}

static char *page_up(const void *address)
{
    return page_down((const char *)address + PAGE - 1);
}

/* The segments of images belong to their spaces, IPC buffers to their threads. */
static int find_owner(struct dl_phdr_info *info, size_t size, void *data)
{
    struct range *range = data;
    (void)size;
    for (unsigned i = 0; i < kernel->space_count; i++) {
        for (unsigned j = 0; info->dlpi_addr == kernel->spaces[i].base && j < info->dlpi_phnum;
             j++) {
            const ElfW(Phdr) *segment = &info->dlpi_phdr[j];
            const char *start = (const char *)info->dlpi_addr + segment->p_vaddr;
            if (segment->p_type == PT_LOAD && segment->p_flags & PF_W &&
                range->start >= page_down(start) &&
                range->end <= page_up(start + segment->p_memsz)) {
                range->owner = i;
                return 1;
            }
        }
    }
    return 0;
}

static unsigned owner_of_page(const char *page)
{
    for (unsigned i = 0; i < kernel->thread_count; i++) {
        if (page_down(kernel->threads[i].ipc) == page) {
            return kernel->space_count + i;
        }
    }
    for (unsigned i = 0; i < kernel->space_count; i++) {
        const struct space *space = &kernel->spaces[i];
        if (page >= (char *)space->slots &&
            page + PAGE <= (char *)(space->slots + space->slot_count)) {
            return i;
        }
    }
    return NO_OWNER;
}

static void need_one_more(unsigned count)
{
    if (count == MOST_RANGES) {
        give_up(2, "the components have too many mappings for a search, more than %d", MOST_RANGES);
    }
}

static void add_range(char *start, char *end, bool learned)
{
    const size_t count = (size_t)(end - start) / PAGE;
    if (start >= end) {
        return;
    }
    need_one_more(range_count);
    if (pages_count + count > MOST_PAGES) {
        give_up(2, "the components have too much memory for a search, more than %u MiB",
                MOST_PAGES / 256);
    }
    struct range *range = &ranges[range_count++];
    *range = (struct range){
        .start = start, .end = end, .first = pages_count, .owner = NO_OWNER, .learned = learned};
    dl_iterate_phdr(find_owner, range);
    for (size_t i = 0; i < count; i++) {
        struct page *page = &pages[pages_count++];
        page->live = start + i * PAGE;
        page->learned = learned;
        page->owner = range->owner == NO_OWNER ? owner_of_page(page->live) : range->owner;
        memset(page->masks, 0xff, sizeof page->masks);
    }
}

/* Without what is at a place, if that is in between. */
static void add_without(char *start, char *end, char *hole, char *hole_end)
{
    if (hole >= end || hole_end <= start) {
        add_range(start, end, true);
        return;
    }
    add_range(start, hole, true);
    add_range(hole_end, end, true);
}

static bool contains(const char *start, const char *end, const void *address)
{
    return (const char *)address >= start && (const char *)address < end;
}

/* A mapping of this process that can be written to. */
static void add_mapping(char *start, char *end)
{
    extern char __data_start[], _end[]; /* the linker's */
    const stack_t signals = signals_stack();
    if (contains(start, end, kernel)) {
        char *used = page_up((char *)kernel + memory_used());
        add_without((char *)kernel, used, page_up(&kernel->console), page_down(&kernel->asker));
    } else if ((start < _end && end > page_down(__data_start)) ||
               (start >= kernel->stacks &&
                start < kernel->threads[kernel->thread_count - 1].fault_stack_top)) {
        return; /* the kernel's own, and stacks */
    } else if (contains(start, end, &errno)) {
        char *from = page_down(&errno) - PAGE, *to = page_up((char *)&errno + PAGE);
        /* the workstation's kernel writes there, too */
        add_range(from > start ? from : start, to < end ? to : end, false);
    } else {
        add_without(start, end, signals.ss_sp, (char *)signals.ss_sp + signals.ss_size);
    }
}

/* Shared regions: components see them at other addresses. Before components are loaded. */
void pages_map_regions(void)
{
    for (unsigned i = 0; i < kernel->object_count; i++) {
        struct object *object = &kernel->objects[i];
        if (object->kind == OBJECT_REGION) {
            object->region.live = mmap(NULL, object->region.size, PROT_READ | PROT_WRITE,
                                       MAP_SHARED, kernel->memory_file, object->region.offset);
            if (object->region.live == MAP_FAILED) {
                give_up(3, "cannot map a shared region: %s", strerror(errno));
            }
        }
    }
}

static void add_regions(void)
{
    for (unsigned i = 0; i < kernel->object_count; i++) {
        const struct object *object = &kernel->objects[i];
        if (object->kind == OBJECT_REGION) {
            add_range(object->region.live, object->region.live + object->region.size, false);
        }
    }
}

/* Whether a line of the list of mappings, without its addresses, is of memory that a search saves
 * where it is mapped; for shared regions, see add_regions, and parts.c for the search's own. */
static bool is_saved(const char *line, size_t length)
{
    static const char *const OTHERS[] = {"camkes-regions", "camkes-search", "[stack]"};
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++) {
        if (memmem(line, length, OTHERS[i], strlen(OTHERS[i]))) {
            return false;
        }
    }
    return line[1] == 'r' && line[2] == 'w';
}

/* What is reserved from then on is not the system's. */
static void find_mappings(void)
{
    const char *line = polling_maps();
    if (!line) {
        give_up(3, "cannot read /proc/self/maps");
    }
    for (; *line; line = strchr(line, '\n') + 1) {
        char *rest;
        const uintptr_t start = strtoull(line, &rest, 16);
        const uintptr_t end = strtoull(rest + 1, &rest, 16);
        if (is_saved(rest, (size_t)(strchr(rest, '\n') - rest))) {
            need_one_more(mapping_count);
            mappings[mapping_count].start = (char *)start;
            mappings[mapping_count++].end = (char *)end;
        }
    }
}

/* ---- what makes no difference ---- */

/* The number of the page with an address, pages_count: it is in none. */
unsigned pages_at(const void *address)
{
    for (unsigned i = 0; i < range_count; i++) {
        if (contains(ranges[i].start, ranges[i].end, address)) {
            return ranges[i].first + (unsigned)((size_t)((char *)address - ranges[i].start) / PAGE);
        }
    }
    return pages_count;
}

static void mask(const void *address, size_t size)
{
    for (const char *at = address; at < (const char *)address + size; at += sizeof(uint64_t)) {
        const unsigned number = pages_at(at);
        if (number < pages_count) {
            const size_t offset = (size_t)(at - pages[number].live);
            const unsigned word = (unsigned)(offset % CHUNK / sizeof(uint64_t));
            pages[number].masks[offset / CHUNK] &= (uint8_t)~(1u << word);
        }
    }
}

/* Counters that nothing depends on, and what components print. */
static void mask_counters(void)
{
    mask(&kernel->entries, sizeof kernel->entries);
    mask(&kernel->calls, sizeof kernel->calls);
    mask(&kernel->accesses, sizeof kernel->accesses);
    mask(&kernel->last_poll, sizeof kernel->last_poll);
    mask(&kernel->vain_polls, sizeof kernel->vain_polls);
    mask(&kernel->last, sizeof kernel->last);
    if (kernel->options.arrivals) {
        /* is set when a thread begins to run, and not read where none does */
        mask(&oracle->running, sizeof oracle->running);
    }
    for (unsigned i = 0; i < kernel->thread_count; i++) {
        mask(&kernel->threads[i].called_from, sizeof kernel->threads[i].called_from);
    }
}

void pages_find(void)
{
    find_mappings();
    pages = pages_reserve(MOST_PAGES * sizeof *pages);
    for (unsigned i = 0; i < mapping_count; i++) {
        add_mapping(mappings[i].start, mappings[i].end);
    }
    add_regions();
    mask_counters();
}

void pages_protect(void)
{
    for (unsigned i = 0; i < range_count; i++) {
        if (ranges[i].learned) {
            mprotect(ranges[i].start, (size_t)(ranges[i].end - ranges[i].start), PROT_READ);
        }
    }
}
