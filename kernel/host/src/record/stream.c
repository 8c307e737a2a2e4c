/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * The output of a run: what components print, and the kernel's messages. Only the runner has
 * descriptors to write to; a process of a component puts bytes into a ring of the kernel's memory,
 * from which the runner takes them. With --fast the one process writes at once.
 */
#include "record/output.h"
#include "isolation/processes.h"
#include "state.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Appends to a message, as much as there is space for. */
static void add(struct message *message, const char *format, va_list arguments)
{
    size_t space = sizeof message->text - message->length;
    int n = vsnprintf(message->text + message->length, space, format, arguments);
    if (n > 0) {
        message->length += (size_t)n < space ? (size_t)n : space - 1;
    }
}

void message_add(struct message *message, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add(message, format, arguments);
    va_end(arguments);
}

static void cannot_write(int error)
{
    if (!kernel->status) {
        kernel->status = 1;
        struct message message = {0};
        message_add(&message, "camkes-host: cannot write to standard output: %s\n",
                    strerror(error));
        stream_put(&kernel->messages, message.text, message.length);
    }
    kernel->stop = true;
}

/* Writes to a descriptor of the runner; what cannot be written is lost. */
static void write_to(int file, const char *text, size_t length)
{
    while (length > 0) {
        ssize_t n = write(file, text, length);
        if (n > 0) {
            text += n;
            length -= (size_t)n;
        } else if (n < 0 && errno == EAGAIN) {
            poll(&(struct pollfd){.fd = file, .events = POLLOUT}, 1, -1);
        } else if (n >= 0 || errno != EINTR || (kernel && kernel->stop)) {
            bool interrupted = n < 0 && errno == EINTR; /* and no program reads it */
            if (file == STDOUT_FILENO && !interrupted) {
                cannot_write(n < 0 ? errno : EIO);
            }
            return;
        }
    }
}

static int file_of(const struct stream *stream)
{
    if (stream == &kernel->network) {
        return kernel->network_file;
    }
    return stream == &kernel->console ? STDOUT_FILENO : STDERR_FILENO;
}

static void empty(struct stream *stream)
{
    size_t end = stream->written;
    while (stream->read != end) {
        size_t start = stream->read % STREAM_SIZE;
        size_t length = end - stream->read;
        length = length < STREAM_SIZE - start ? length : STREAM_SIZE - start;
        stream->read += length; /* before, or an error is reported twice */
        write_to(file_of(stream), stream->data + start, length);
    }
}

/* In the runner: writes out what the rings have. */
void stream_write(void)
{
    empty(&kernel->console);
    empty(&kernel->messages);
    empty(&kernel->network);
}

void stream_put(struct stream *stream, const char *text, size_t length)
{
    if (!process.space) {
        stream_write();
        write_to(file_of(stream), text, length);
        return;
    }
    while (length > 0) {
        size_t space = STREAM_SIZE - (stream->written - stream->read);
        if (space == 0) {
            control_write();
            continue;
        }
        size_t start = stream->written % STREAM_SIZE;
        size_t part = length < space ? length : space;
        part = part < STREAM_SIZE - start ? part : STREAM_SIZE - start;
        memcpy(stream->data + start, text, part);
        stream->written += part;
        text += part;
        length -= part;
    }
}
