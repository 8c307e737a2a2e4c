/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Address spaces: loading an image, mapping shared memory behind its symbols, making its threads.
 */
#include "boot/boot.h"
#include "entry/entry.h"
#include "isolation/memory.h"
#include "record/output.h"
#include "state.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* With --fast, one image may be loaded for several address spaces; the loader wants files for that.
 */
static int make_copy(const char *path)
{
    struct stat status;
    int from = open(path, O_RDONLY | O_CLOEXEC);
    int to = memfd_create("image", 0);
    if (from < 0 || to < 0 || fstat(from, &status) != 0) {
        give_up(2, "cannot read %s: %s", path, strerror(errno));
    }
    for (off_t left = status.st_size; left > 0;) {
        ssize_t n = sendfile(to, from, NULL, (size_t)left);
        if (n <= 0) {
            give_up(2, "cannot read %s: %s", path, strerror(errno));
        }
        left -= n;
    }
    close(from);
    return to;
}

static bool has_same_image(const struct space *space)
{
    for (unsigned i = 0; i < space->number; i++) {
        if (kernel->options.fast && strcmp(kernel->spaces[i].image, space->image) == 0) {
            return true;
        }
    }
    return false;
}

static void *load(const struct space *space)
{
    char copy[64];
    snprintf(copy, sizeof copy, "/proc/self/fd/%d", space->copy);
    return dlopen(space->copy ? copy : space->image, RTLD_NOW | RTLD_LOCAL);
}

/* Somewhere. What may only be read is of a file that is open for reading, so that no one can change
 * the access to it. */
static void map_region(const struct space *space, struct mapping *mapping)
{
    const struct region *region = &mapping->region->region;
    char path[64];
    if (mapping->rights & RIGHT_WRITE) {
        mapping->place = mmap(NULL, region->size, PROT_READ | PROT_WRITE, MAP_SHARED,
                              kernel->memory_file, region->offset);
    } else if (mapping->rights & RIGHT_READ) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", kernel->memory_file);
        int file = open(path, O_RDONLY | O_CLOEXEC);
        mapping->place = mmap(NULL, region->size, PROT_READ, MAP_SHARED, file, region->offset);
        close(file);
    } else {
        mapping->place = mmap(NULL, region->size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    }
    if (mapping->place == MAP_FAILED) {
        give_up(3, "%s: cannot map %s: %s", space->name, mapping->symbol, strerror(errno));
    }
}

static void place_region(struct space *space, void *image, struct mapping *mapping)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const struct region *region = &mapping->region->region;
    char *address = dlsym(image, mapping->symbol);
    Dl_info info;
    ElfW(Sym) *symbol = NULL;
    if (!address) {
        give_up(2, "%s: %s has no symbol %s to map a region at", space->name, space->image,
                mapping->symbol);
    }
    if ((uintptr_t)address % page != 0) {
        give_up(2, "%s: %s does not begin with a page", space->name, mapping->symbol);
    }
    if (dladdr1(address, &info, (void **)&symbol, RTLD_DL_SYMENT) && symbol &&
        symbol->st_size < region->size) {
        give_up(2, "%s: %s has %zu bytes, but the region %s has %zu (whole pages)", space->name,
                mapping->symbol, (size_t)symbol->st_size, mapping->region->name,
                (size_t)region->size);
    }
    const long size = (long)region->size;
    const long error = access_load(SYS_mremap, (long)mapping->place, size, size,
                                   MREMAP_MAYMOVE | MREMAP_FIXED, (long)address);
    if (error != (long)address) {
        give_up(3, "%s: cannot map %s: %s", space->name, mapping->symbol, strerror((int)-error));
    }
    mapping->place = address;
}

struct search {
    struct space *space;
    size_t storage_size;
};

static int note_segments(struct dl_phdr_info *info, size_t size, void *data)
{
    struct search *search = data;
    struct space *space = search->space;
    (void)size;
    if (info->dlpi_addr != space->base) {
        return 0;
    }
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && segment->p_flags & PF_X) {
            space->text = info->dlpi_addr + segment->p_vaddr;
            space->text_end = space->text + segment->p_memsz;
        } else if (segment->p_type == PT_TLS) {
            search->storage_size = segment->p_memsz;
        }
    }
    return 1;
}

/* Images of different processes are at different addresses, so a pointer means something in one
 * only. */
static void keep_apart(const struct space *space)
{
    static const size_t DISTANCE = (size_t)256 << 20;
    if (!kernel->options.fast && space->number > 0) {
        mmap(NULL, space->number * DISTANCE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
             -1, 0);
    }
}

/* An image uses other kernel calls, and the tables of its runtime differ. */
static void check_kind(const struct space *space, void *image)
{
    static const char *const NAMES[] = {"one without MCS", "an MCS kernel"};
    const uint8_t *mcs = dlsym(image, "camkes_image_mcs");
    if (mcs && *mcs != kernel->mcs) {
        give_up(2, "%s: %s was compiled for %s, but this is %s; build the system again",
                space->name, space->image, NAMES[*mcs != 0], NAMES[kernel->mcs]);
    }
}

/* Before code of components is there: what they could do more with than is theirs. */
void space_prepare(struct space *space)
{
    keep_apart(space);
    space->copy = has_same_image(space) ? make_copy(space->image) : 0;
    for (unsigned i = 0; i < space->mapping_count; i++) {
        map_region(space, &space->mappings[i]);
    }
}

void space_load(struct space *space)
{
    access_close(); /* constructors are the component's */
    void *image = load(space);
    access_open();
    if (!image) {
        give_up(2, "%s: %s", space->name, dlerror());
    }
    check_kind(space, image);
    size_t *heap = dlsym(image, "camkes_image_heap");
    if (heap) {
        *heap = space->heap;
    }
    space->handle = image;
    struct search search = {space, 0};
    struct link_map *map;
    if (dlinfo(image, RTLD_DI_LINKMAP, &map) == 0) {
        space->base = map->l_addr;
        dl_iterate_phdr(note_segments, &search);
        storage_find(space, image, search.storage_size);
    }
    void *entry = dlsym(image, "_camkes_thread");
    if (!entry) {
        give_up(2, "%s: %s has no function _camkes_thread", space->name, space->image);
    }
    memcpy(&space->entry, &entry, sizeof entry);
    for (unsigned i = 0; i < space->mapping_count; i++) {
        place_region(space, image, &space->mappings[i]);
    }
    for (unsigned i = 0; i < kernel->thread_count; i++) {
        if (kernel->threads[i].space == space) {
            thread_create(&kernel->threads[i]);
        }
    }
}

/* With --fast. Images that were compiled for it have a function that writes their counters. */
void space_write_coverage(void)
{
    for (unsigned i = 0; i < kernel->space_count; i++) {
        void *found = dlsym(kernel->spaces[i].handle, "camkes_write_coverage");
        void (*write_counters)(void);
        memcpy(&write_counters, &found, sizeof found);
        if (found) {
            write_counters();
        }
    }
}
