/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: HOST-13 */
/*
 * Which memory a search saves: what the system can write to, in pages, with their owners, and
 * without what makes no difference. Only addresses matter, but for shared regions and protection.
 */
#include "search/pages.h"
#include "search/search.h"
#include "isolation/faults.h"
#include "isolation/memory.h"
#include "record/output.h"

#include <errno.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { THREADS = 2, SPACES = 2, SLOTS = 1024, MOST = 1 << 18 };

struct kernel *kernel;
struct oracle *oracle;
static char maps[1 << 17];
static bool unreadable; /* there is no list of mappings */
static stack_t signals;
static size_t used;
static struct thread *threads;
static struct space *spaces;
static const char *expected; /* the message of give_up */

const char *polling_maps(void)
{
    return unreadable ? NULL : maps;
}

stack_t signals_stack(void)
{
    return signals;
}

size_t memory_used(void)
{
    return used;
}

static void need(bool good, const char *what)
{
    if (!good) {
        printf("%s\n", what);
        fflush(stdout);
        _exit(1);
    }
}

void give_up(int status, const char *format, ...)
{
    char text[256];
    const int length = snprintf(text, sizeof text, "%d: ", status);
    va_list args;
    va_start(args, format);
    vsnprintf(text + length, sizeof text - (size_t)length, format, args);
    va_end(args);
    need(expected != NULL && strcmp(text, expected) == 0, text);
    _exit(0);
}

static char *page_of(const void *address)
{
    return (char *)((uintptr_t)address & ~(uintptr_t)(PAGE - 1));
}

static char *reserve(size_t size)
{
    char *place = mmap(NULL, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    need(place != MAP_FAILED, "no memory");
    return place;
}

/* As in /proc/self/maps, where names begin in column 73. */
static void add_line(const void *start, const void *end, const char *rights, const char *name)
{
    snprintf(maps + strlen(maps), sizeof maps - strlen(maps),
             "%012lx-%012lx %s 00000000 00:01 %-26u %s\n", (unsigned long)start, (unsigned long)end,
             rights, 7u, name);
}

static void *take(size_t size)
{
    char *start = (char *)kernel + used;
    used += (size + 63) & ~(size_t)63;
    return start;
}

/* A kernel's block of memory with two threads in two spaces. */
static void begin(void)
{
    kernel = (struct kernel *)reserve(1 << 22);
    used = sizeof *kernel;
    kernel->threads = threads = take(THREADS * sizeof *threads);
    kernel->spaces = spaces = take(SPACES * sizeof *spaces);
    kernel->thread_count = THREADS;
    kernel->space_count = SPACES;
    for (unsigned i = 0; i < SPACES; i++) {
        spaces[i] = (struct space){.number = i, .slots = take(SLOTS * sizeof(struct cap))};
        spaces[i].slot_count = SLOTS;
    }
}

static bool saved(const void *address)
{
    const unsigned number = pages_at(address);
    if (number == pages_count) {
        return false;
    }
    need(pages[number].live == page_of(address), "a page is where its number says");
    return true;
}

static const struct page *page(const void *address)
{
    need(saved(address), "a page is missing");
    return &pages[pages_at(address)];
}

static bool masked(const void *address)
{
    const size_t offset = (size_t)((const char *)address - page_of(address));
    return !(page(address)->masks[offset / CHUNK] >> offset % CHUNK / sizeof(uint64_t) & 1);
}

/* All of the kernel's block that is in use counts, but for what is printed. */
static void block(void)
{
    add_line(kernel, (char *)kernel + (1 << 22), "rw-s", "/dev/zero (deleted)");
    used += 3 * PAGE + 1;
    pages_find();
    const char *end = (char *)kernel + used;
    need(saved(kernel) && pages_at(kernel) == 0, "the begin of the block");
    need(saved(&kernel->console), "a page that begins before what is printed");
    need(!saved(page_of(&kernel->console) + PAGE), "what is printed");
    need(!saved(page_of(&kernel->asker) - 1), "the last of what is printed");
    need(saved(&kernel->asker) && saved(kernel + 1) && saved(end - 1), "what comes behind it");
    need(!saved(page_of(end) + PAGE), "what is not in use");
    need(pages_count == (page_of(&kernel->console) + PAGE - (char *)kernel) / PAGE +
                            (page_of(end) + PAGE - page_of(&kernel->asker)) / PAGE,
         "no page twice");
    need(page(kernel)->learned && !page(kernel)->active, "it is watched");

    for (unsigned i = 0; i < SPACES; i++) {
        const char *first = (char *)spaces[i].slots, *last = (char *)(spaces[i].slots + SLOTS) - 1;
        need(page_of(first) == first || page(first)->owner == NO_OWNER, "a page of several");
        need(page(page_of(first) + PAGE)->owner == i, "the first page of slots alone");
        need(page(page_of(last) - 1)->owner == i, "the last page of slots alone");
        need(page(last)->owner == NO_OWNER, "the end of slots");
    }
    need(page(threads)->owner == NO_OWNER, "threads are no slots");
}

static void counters(void)
{
    add_line(kernel, (char *)kernel + (1 << 22), "rw-s", "");
    pages_find();
    need(masked(&kernel->entries) && masked(&kernel->calls) && masked(&kernel->last_poll), "polls");
    need(masked(&kernel->vain_polls) && masked(&kernel->last), "polls and the last thread");
    need(masked(&kernel->accesses), "accesses to memory");
    need(masked(&threads[0].called_from) && masked(&threads[1].called_from), "calls");
    unsigned found = 0;
    for (unsigned i = 0; i < pages_count; i++) {
        for (unsigned j = 0; j < CHUNKS; j++) {
            found += WORDS - (unsigned)__builtin_popcount(pages[i].masks[j]);
        }
    }
    need(found == 6 + THREADS, "all other words make a difference");
}

static void mappings(void)
{
    extern char __data_start[], _end[];
    char *memory = reserve(64 * PAGE);
    signals = (stack_t){.ss_sp = memory + 4 * PAGE, .ss_size = 2 * PAGE};
    kernel->stacks = memory + 32 * PAGE;
    threads[1].fault_stack_top = memory + 40 * PAGE;
    threads[1].ipc = (seL4_IPCBuffer *)(memory + 2 * PAGE + 8);
    threads[0].ipc = (seL4_IPCBuffer *)(memory + 8 * PAGE);
    add_line(memory, memory + 8 * PAGE, "rw-p", "");
    add_line(memory + 8 * PAGE, memory + 9 * PAGE, "rw-s", "");
    add_line(memory + 10 * PAGE, memory + 11 * PAGE, "r--p", "");
    add_line(memory + 12 * PAGE, memory + 13 * PAGE, "-w-p", "");
    add_line(memory + 14 * PAGE, memory + 15 * PAGE, "rw-s", "/memfd:camkes-regions (deleted)");
    add_line(memory + 16 * PAGE, memory + 17 * PAGE, "rw-p", "[stack]");
    add_line(memory + 18 * PAGE, memory + 19 * PAGE, "rw-p", "[heap]");
    add_line(memory + 31 * PAGE, memory + 32 * PAGE, "rw-p", "");
    add_line(memory + 32 * PAGE, memory + 33 * PAGE, "rw-p", "");
    add_line(memory + 39 * PAGE, memory + 40 * PAGE, "rw-p", "");
    add_line(memory + 40 * PAGE, memory + 41 * PAGE, "rw-p", "");
    add_line(page_of(__data_start), page_of(__data_start) + PAGE, "rw-p", "kernel");
    add_line(page_of(_end - 1), page_of(_end - 1) + PAGE, "rw-p", "");
    pages_find();
    need(pages_at(memory) == 0 && pages_at(memory + PAGE) == 1,
         "pages have the order of addresses");
    need(saved(memory + 4 * PAGE - 1) && saved(memory + 6 * PAGE), "beside the stack of signals");
    need(!saved(memory + 4 * PAGE) && !saved(memory + 6 * PAGE - 1), "the stack of signals");
    need(page(memory + 2 * PAGE)->owner == SPACES + 1, "the page of the second thread's buffer");
    need(page(memory + 8 * PAGE)->owner == SPACES, "that of the first");
    need(page(memory + PAGE)->owner == NO_OWNER && page(memory + 3 * PAGE)->owner == NO_OWNER,
         "those beside them");
    need(!saved(memory + 10 * PAGE) && !saved(memory + 12 * PAGE),
         "what cannot be read and written");
    need(!saved(memory + 14 * PAGE) && !saved(memory + 16 * PAGE), "regions and the first stack");
    need(saved(memory + 18 * PAGE), "the heap");
    need(saved(memory + 31 * PAGE) && saved(memory + 40 * PAGE), "beside the threads' stacks");
    need(!saved(memory + 32 * PAGE) && !saved(memory + 39 * PAGE), "the threads' stacks");
    need(!saved(__data_start) && !saved(_end - 1), "the kernel's own variables");
    need(pages_count == 6 + 1 + 1 + 2, "nothing else");

    char byte = 1;
    int ends[2];
    pages_protect();
    need(pipe(ends) == 0 && write(ends[1], &byte, 1) == 1, "a pipe");
    need(read(ends[0], memory + PAGE, 1) == -1 && errno == EFAULT, "pages cannot be written to");
    need(read(ends[0], memory + 4 * PAGE, 1) == 1, "what is not saved can");
}

/* The workstation's kernel writes to what is around errno, so that is not protected. */
static void around_errno(void)
{
    char *own = page_of(&errno);
    add_line(own - 3 * PAGE, own + 4 * PAGE, "rw-p", "");
    pages_find();
    need(pages_count == 3 && pages[0].live == own - PAGE, "three pages");
    need(!pages[0].learned && !pages[2].learned, "they are not watched for a first write");
}

static void at_the_edges_of_errno(void)
{
    char *own = page_of(&errno);
    add_line(own, own + PAGE, "rw-p", "");
    pages_find();
    need(pages_count == 1 && pages[0].live == own, "no more than the mapping");
}

static uint64_t image;
static char *segment, *segment_end;

static int find_image(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    (void)data;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *each = &info->dlpi_phdr[i];
        if (each->p_type == PT_LOAD && each->p_flags & PF_W && strstr(info->dlpi_name, "libc.so")) {
            char *start = (char *)info->dlpi_addr + each->p_vaddr;
            image = info->dlpi_addr;
            segment = page_of(start);
            segment_end = page_of(start + each->p_memsz - 1) + PAGE;
        }
    }
    return 0;
}

/* The variables of an image are those of its space. */
static void image_of(unsigned space)
{
    dl_iterate_phdr(find_image, NULL);
    need(segment_end > segment + PAGE, "an image");
    spaces[0].base = spaces[1].base = 1;
    spaces[space].base = image;
    add_line(segment, segment + PAGE, "rw-p", "libc.so");
    add_line(segment + PAGE, segment_end, "rw-p", "libc.so");
    add_line(segment_end, segment_end + PAGE, "rw-p", "");
    add_line(segment - PAGE, segment, "rw-p", "");
    pages_find();
    need(page(segment)->owner == space && page(segment_end - 1)->owner == space, "a segment");
    need(page(segment_end)->owner == NO_OWNER && page(segment - 1)->owner == NO_OWNER,
         "no segment");
}

static void image_of_the_first(void)
{
    image_of(0);
}

static void image_of_the_last(void)
{
    image_of(SPACES - 1);
}

/* What one component writes to a shared region, a search sees. */
static void regions(void)
{
    struct object objects[] = {
        {.kind = OBJECT_ENDPOINT},
        {.kind = OBJECT_REGION, .region = {.size = 2 * PAGE, .offset = PAGE}},
    };
    kernel->objects = objects;
    kernel->object_count = 2;
    kernel->memory_file = memfd_create("regions", 0);
    need(ftruncate(kernel->memory_file, 3 * PAGE) == 0, "a file");
    char *seen = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, kernel->memory_file, 0);
    pages_map_regions();
    pages_find();
    need(pages_count == 2, "the pages of the region");
    strcpy(seen + PAGE, "first");
    strcpy(seen + 2 * PAGE, "second");
    need(strcmp(pages[0].live, "first") == 0 && strcmp(pages[1].live, "second") == 0,
         "its content");
    need(!pages[0].learned && pages[0].owner == NO_OWNER, "whoever writes to it");
    pages_protect();
    strcpy(pages[1].live, "again");
    need(strcmp(seen + 2 * PAGE, "again") == 0, "it can be put back");
}

static void no_region(void)
{
    struct object region = {.kind = OBJECT_REGION, .region.size = PAGE};
    kernel->objects = &region;
    kernel->object_count = 1;
    kernel->memory_file = -1;
    expected = "3: cannot map a shared region: Bad file descriptor";
    pages_map_regions();
    need(false, "a region without memory");
}

static void as_much_as_there_can_be(void)
{
    const char *start = (char *)((size_t)1 << 40);
    add_line(start, start + (size_t)MOST * PAGE, "rw-p", "");
    pages_find();
    need(pages_count == MOST, "a GiB");
}

static void too_much(void)
{
    const char *start = (char *)((size_t)1 << 40);
    add_line(start, start + ((size_t)MOST + 1) * PAGE, "rw-p", "");
    expected = "2: the components have too much memory for a search, more than 1024 MiB";
    pages_find();
    need(false, "more than a GiB");
}

static void add_mappings(unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        char *start = (char *)((size_t)1 << 40) + 2 * i * PAGE;
        add_line(start, start + PAGE, "rw-p", "");
    }
}

static void as_many_as_there_can_be(void)
{
    add_mappings(1024);
    pages_find();
    need(pages_count == 1024, "all of them");
}

/* None may be left out in silence: a search would not see what is written there. */
static void too_many(void)
{
    add_mappings(1025);
    expected = "2: the components have too many mappings for a search, more than 1024";
    pages_find();
    need(false, "more mappings than there can be");
}

static void too_many_with_holes(void)
{
    add_mappings(1023);
    signals.ss_sp = (char *)((size_t)1 << 40) - 2 * PAGE;
    signals.ss_size = PAGE;
    add_line((char *)signals.ss_sp - PAGE, (char *)signals.ss_sp + 2 * PAGE, "rw-p", "");
    expected = "2: the components have too many mappings for a search, more than 1024";
    pages_find();
    need(false, "more parts of mappings than there can be");
}

static void no_list(void)
{
    unreadable = true;
    expected = "3: cannot read /proc/self/maps";
    pages_find();
    need(false, "no list of mappings");
}

int main(void)
{
    void (*const tests[])(void) = {block,
                                   counters,
                                   mappings,
                                   around_errno,
                                   at_the_edges_of_errno,
                                   image_of_the_first,
                                   image_of_the_last,
                                   regions,
                                   no_region,
                                   as_much_as_there_can_be,
                                   too_much,
                                   as_many_as_there_can_be,
                                   too_many,
                                   too_many_with_holes,
                                   no_list};
    for (unsigned i = 0; i < sizeof tests / sizeof *tests; i++) {
        const pid_t child = fork();
        if (child == 0) {
            begin();
            tests[i]();
            _exit(0);
        }
        int status;
        waitpid(child, &status, 0);
        if (status != 0) {
            printf("test %u: status %x\n", i, (unsigned)status);
            return 1;
        }
    }
    printf("good\n");
    return 0;
}
