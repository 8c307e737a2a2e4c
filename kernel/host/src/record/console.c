/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* What components print: whole lines of one thread, in the order of the run. */
#include "entry/entry.h"
#include "isolation/memory.h"
#include "record/output.h"
#include "state.h"

#include <camkes/host.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void flush_line(struct thread *thread, const char *line, unsigned *length)
{
    if (*length > 0) {
        trace_output(thread, line, *length);
        stream_put(&kernel->console, line, *length);
        *length = 0;
    }
}

/* `thread` is NULL while a component is loaded. */
void console_put(struct thread *thread, const char *text, size_t length)
{
    char *line = thread ? thread->line : kernel->boot_line;
    unsigned *used = thread ? &thread->line_length : &kernel->boot_line_length;
    if (hooks.choose) {
        return; /* every schedule would print it */
    }
    for (size_t i = 0; i < length; i++) {
        line[(*used)++] = text[i];
        if (text[i] == '\n' || *used == LINE_LENGTH) {
            flush_line(thread, line, used);
        }
    }
}

/* At the end: a line that was never finished ends here, or the next would begin in it. */
static void finish_line(struct thread *thread, char *line, unsigned *length)
{
    if (*length > 0) {
        line[(*length)++] = '\n';
        flush_line(thread, line, length);
    }
}

void console_flush(void)
{
    finish_line(NULL, kernel->boot_line, &kernel->boot_line_length);
    for (unsigned i = 0; i < kernel->thread_count; i++) {
        struct thread *thread = &kernel->threads[i];
        finish_line(thread, thread->line, &thread->line_length);
    }
}

/* For a signal handler and while components are loaded: outside the kernel, but no other thread
 * runs because of it. */
void console_print(const char *text, size_t length)
{
    bool inside = kernel->inside, open = process.open;
    access_open();
    kernel->inside = true;
    kernel->entries++;
    console_put(process.loaded, text, length);
    kernel->inside = inside;
    if (!open) {
        access_close();
    }
}

void camkes_host_write(const char *text, size_t length)
{
    char piece[128];
    while (length > 0) {
        size_t n = length < sizeof piece ? length : sizeof piece;
        memcpy(piece, text, n); /* may fault, so not in the kernel */
        struct thread *self = process.loaded;
        int saved_errno = errno;
        if (self) {
            kernel_enter_quietly();
            console_put(self, piece, n);
            errno = saved_errno;
            kernel_leave(self);
        } else {
            console_print(piece, n);
        }
        text += n;
        length -= n;
    }
}

static ssize_t write_cookie(void *cookie, const char *text, size_t length)
{
    (void)cookie;
    camkes_host_write(text, length);
    return (ssize_t)length;
}

static FILE *open_cookie(void)
{
    cookie_io_functions_t functions = {.write = write_cookie};
    FILE *file = fopencookie(NULL, "w", functions);
    if (!file) {
        give_up(3, "cannot redirect the output of components");
    }
    setvbuf(file, NULL, _IONBF, 0); /* lines are put together here, a thread at a time */
    return file;
}

/* Standard output and error of the components in this process. */
void console_redirect(void)
{
    stdout = open_cookie();
    stderr = open_cookie();
}

void seL4_DebugPutChar(char character)
{
    camkes_host_write(&character, 1);
}

void seL4_DebugPutString(const char *text)
{
    camkes_host_write(text, strlen(text));
}

void seL4_DebugHalt(void)
{
    struct thread *self = kernel_enter(CAMKES_KCALL_DEBUG, seL4_CapNull);
    kernel->stop = true;
    kernel_leave(self);
}
