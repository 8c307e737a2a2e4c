/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* What a run puts out: the kernel's messages, what components print, the trace. */
#pragma once

#include "state.h"

/* stream.c */
struct message {
    size_t length; /* without the final 0 */
    char text[1024];
};
void message_add(struct message *message, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void stream_put(struct stream *stream, const char *text, size_t length);
void stream_write(void);

/* complain.c */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void give_up(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
_Noreturn void process_exit(int status);

/* console.c */
void console_redirect(void);
void console_print(const char *text, size_t length);
void console_put(struct thread *thread, const char *text, size_t length);
void console_flush(void);

/* trace.c */
void trace_open(const char *path);
void trace_write(uint16_t kind, struct thread *thread, const struct thread *other, unsigned n,
                 const uint64_t *args);
void trace_flush(void);
void trace_output(struct thread *thread, const char *text, size_t length);
#define TRACE(kind, thread, other, ...)                                                            \
    do {                                                                                           \
        if (kernel->traced) {                                                                      \
            const uint64_t args_[] = {__VA_ARGS__};                                                \
            trace_write(CAMKES_TRACE_##kind, thread, other, sizeof args_ / sizeof *args_, args_);  \
        }                                                                                          \
    } while (0)
#define TRACE_PLAIN(kind, thread, other)                                                           \
    do {                                                                                           \
        if (kernel->traced) {                                                                      \
            trace_write(CAMKES_TRACE_##kind, thread, other, 0, NULL);                              \
        }                                                                                          \
    } while (0)
