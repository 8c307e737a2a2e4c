/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The trace: a buffer in shared memory, written out when it is full and at the end. */
#include "isolation/memory.h"
#include "record/output.h"
#include "isolation/processes.h"
#include "state.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

static const size_t BUFFER_SIZE = 1 << 20;

void trace_open(const char *path)
{
    kernel->trace_fd = -1;
    if (!path) {
        return;
    }
    kernel->trace_fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    if (kernel->trace_fd < 0) {
        give_up(2, "cannot write %s: %s", path, strerror(errno));
    }
    kernel->traced = true;
    kernel->trace_buffer = memory_take(BUFFER_SIZE);
    memcpy(kernel->trace_buffer, "CAMKTRC1", 8);
    kernel->trace_used = 8;
}

static void give_up_writing(int status)
{
    kernel->trace_fd = -1;
    kernel->traced = false;
    kernel->trace_used = 0;
    kernel->status = status;
    kernel->stop = true;
}

/* The run ends; the message names the component whose threads have most of the record. */
static void end_full(void)
{
    const struct space *most = NULL;
    uint64_t largest = 0;
    for (unsigned i = 0; i < kernel->space_count; i++) {
        uint64_t recorded = 0;
        for (unsigned j = 0; j < kernel->thread_count; j++) {
            const struct thread *thread = &kernel->threads[j];
            recorded += thread->space == &kernel->spaces[i] ? thread->recorded : 0;
        }
        most = recorded > largest ? &kernel->spaces[i] : most;
        largest = recorded > largest ? recorded : largest;
    }
    complain("the record of the run is full, with %" PRIu64 " MiB, so the run ends at %" PRIu64
             ".%06" PRIu64 " ms; %" PRIu64 " %% of it is about component %s; let it run shorter "
             "(--for) or record more (--record-limit)",
             kernel->trace_written >> 20, kernel->now / 1000000, kernel->now % 1000000,
             100 * largest / kernel->trace_written, most ? most->name : "none");
    kernel->status = 1;
    kernel->stop = true;
}

/* Empties the buffer, by the runner. */
void trace_flush(void)
{
    if (process.space) {
        control_write();
        return;
    }
    const char *from = kernel->trace_buffer;
    while (kernel->trace_used > 0) {
        ssize_t n = write(kernel->trace_fd, from, kernel->trace_used);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            complain("cannot write the trace: %s", strerror(errno));
            give_up_writing(3);
            return;
        }
        from += n;
        kernel->trace_used -= (size_t)n;
        kernel->trace_written += (uint64_t)n;
    }
    if (kernel->trace_written > kernel->options.trace_limit && !kernel->stop) {
        end_full();
    }
}

static inline __attribute__((always_inline)) struct camkes_trace_record *
add(uint16_t kind, struct thread *thread, const struct thread *other, size_t size)
{
    if (kernel->trace_used + size > BUFFER_SIZE) {
        trace_flush();
    }
    void *place = kernel->trace_buffer + kernel->trace_used;
    kernel->trace_used += size;
    if (thread) {
        thread->recorded += size;
    }
    struct camkes_trace_record *record = place;
    record->time = kernel->now;
    record->kind = kind;
    record->size = (uint16_t)size;
    record->thread = thread ? (uint16_t)thread->number : NONE;
    record->other = other ? (uint16_t)other->number : NONE;
    return record;
}

void trace_write(uint16_t kind, struct thread *thread, const struct thread *other, unsigned n,
                 const uint64_t *args)
{
    if (hooks.record) {
        hooks.record(kind, thread, other, args);
        return;
    }
    struct camkes_trace_record *record =
        add(kind, thread, other, sizeof(struct camkes_trace_record) + n * sizeof *args);
    for (unsigned i = 0; i < n; i++) {
        record->args[i] = args[i];
    }
}

void trace_output(struct thread *thread, const char *text, size_t length)
{
    if (kernel->trace_fd < 0) {
        return;
    }
    size_t words = (length + 7) / 8;
    struct camkes_trace_record *record =
        add(CAMKES_TRACE_OUTPUT, thread, NULL, sizeof *record + 8 + words * 8);
    record->args[0] = length;
    if (words > 0) {
        record->args[words] = 0;
        memcpy(&record->args[1], text, length);
    }
}
