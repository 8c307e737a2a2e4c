/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The parts of the serial server. All is done while its mutex is locked. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The interface through which a client prints. */
enum stream {
    STREAM_PROCESSED,
    STREAM_RAW,
    STREAM_PROCESSED_BATCH,
    STREAM_RAW_BATCH,
    STREAM_QUEUE,
};

void console_begin(void);
void console_end(void);

/* Prints, a line at a time. */
void console_print(enum stream stream, uintptr_t client, char character);

/* queues.c: what is done where the queues are connected. */
void queues_initialise(void);
/* Whether a reader took the character. */
int queues_give(char character);
