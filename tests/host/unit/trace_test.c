/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: HOST-9 */
/* The trace is written whole: by several writes if they are cut short or interrupted, or not at
 * all.
 */
#include "isolation/memory.h"
#include "record/output.h"
#include "isolation/processes.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a write does: write so many bytes, or fail with an error. */
struct step {
    ssize_t written;
    int error;
};

static struct kernel state;
struct kernel *kernel = &state;
struct hooks hooks;
struct process process;

static const struct step *next;
static char out[64], buffer[64] = "abcdefghij";
static size_t out_used;
static unsigned complaints;

static void need(bool good, const char *what)
{
    if (!good) {
        printf("%s\n", what);
        exit(1);
    }
}

ssize_t write(int file, const void *from, size_t size)
{
    const struct step step = *next++;
    need(file == 5 && step.written <= (ssize_t)size, "another write");
    if (step.written > 0) {
        memcpy(out + out_used, from, (size_t)step.written);
        out_used += (size_t)step.written;
    }
    errno = step.error;
    return step.written;
}

void complain(const char *format, ...)
{
    (void)format;
    complaints++;
}

_Noreturn void give_up(int status, const char *format, ...)
{
    (void)status, (void)format;
    abort();
}

void *memory_take(size_t size)
{
    (void)size;
    abort();
}

void control_write(void)
{
    abort();
}

static void flush(const struct step *steps, uint64_t limit)
{
    next = steps;
    complaints = 0;
    out_used = 0;
    state =
        (struct kernel){.trace_fd = 5, .traced = true, .trace_used = 10, .trace_buffer = buffer};
    state.options.trace_limit = limit;
    trace_flush();
}

int main(void)
{
    flush((const struct step[]){{-1, EINTR}, {3, 0}, {-1, EINTR}, {7, 0}}, 10);
    need(out_used == 10 && memcmp(out, buffer, 10) == 0, "another text");
    need(state.trace_used == 0 && state.trace_written == 10 && state.traced, "it is not written");
    need(complaints == 0 && !state.stop, "the limit is reached");
    flush((const struct step[]){{10, 0}}, 9);
    need(complaints == 1 && state.stop && state.status == 1 && state.traced, "no limit");
    flush((const struct step[]){{4, 0}, {-1, ENOSPC}}, 10);
    need(complaints == 1 && state.stop && state.status == 3, "a failure is not reported");
    need(!state.traced && state.trace_fd < 0 && state.trace_used == 0, "it goes on");
    flush((const struct step[]){{0, 0}}, 10);
    need(state.status == 3, "a write of nothing is not a failure");
    puts("good");
    return 0;
}
