/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * A digest of all memory that the code of this process can change. A thread with the same in its
 * registers and in memory as some time before repeats its steps until another thread changes
 * something: it polls. That is so whenever it is looked at, so nothing depends on the workstation's
 * clock.
 */
#include "isolation/faults.h"
#include "state.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAPS = 256 * 1024 };
static const size_t MOST = (size_t)16 << 20; /* more than that is not looked at */
static char maps[MAPS];

/* For a process that can open no files later. */
void polling_initialise(void)
{
    process.maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
}

static bool read_maps(void);

/* The mappings of this process, as in /proc/self/maps; NULL: they cannot be read. */
const char *polling_maps(void)
{
    return read_maps() ? maps : NULL;
}

static bool read_maps(void)
{
    size_t used = 0;
    ssize_t n = 1;
    while (n > 0 && used < MAPS - 1) {
        n = pread(process.maps, maps + used, MAPS - 1 - used, (off_t)used);
        used += n > 0 ? (size_t)n : 0;
    }
    maps[used] = 0;
    return n == 0;
}

static bool contains(uint64_t start, uint64_t end, const void *place)
{
    return (uint64_t)(uintptr_t)place - start < end - start;
}

/* What changes while a thread repeats its steps: the kernel's own, and the stack of this function.
 */
static bool is_ours(uint64_t start, uint64_t end)
{
    extern char __data_start[], _end[]; /* the linker's */
    return (start < (uint64_t)(uintptr_t)_end && end > (uint64_t)(uintptr_t)__data_start) ||
           contains(start, end, kernel) || contains(start, end, __builtin_frame_address(0));
}

static uint64_t add(uint64_t digest, uint64_t start, uint64_t end)
{
    for (const uint64_t *word = (const uint64_t *)(uintptr_t)start;
         word < (const uint64_t *)(uintptr_t)end; word++) {
        digest = (digest ^ *word) * 0x9e3779b97f4a7c15u;
        digest ^= digest >> 32;
    }
    return digest;
}

/* Of the registers and memory; false: there is none. */
bool polling_digest(const void *registers, size_t size, uint64_t *digest)
{
    size_t total = 0;
    *digest = add(0, (uint64_t)(uintptr_t)registers, (uint64_t)(uintptr_t)registers + size);
    if (!read_maps()) {
        return false;
    }
    for (const char *line = maps; *line; line = strchr(line, '\n') + 1) {
        char *rest;
        const uint64_t start = strtoull(line, &rest, 16);
        const uint64_t end = strtoull(rest + 1, &rest, 16);
        if (rest[1] != 'r' || rest[2] != 'w' || is_ours(start, end)) {
            continue;
        }
        total += end - start;
        if (total > MOST) {
            return false;
        }
        *digest = add(*digest, start, end);
    }
    return true;
}
