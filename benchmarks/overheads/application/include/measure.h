/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Prints lines "overheads: ROW BEGIN MIDDLE END": the counter before a request, in its handler, and
 * after it.
 */
#pragma once

#include <cycles.h>
#include <inttypes.h>
#include <stdio.h>

#define SAMPLES 15
/* Only the last samples are kept: after 64 switches the kernel gives up the registers for floating
 * point, which printf() used, and a switch costs a little less. */
#define ROUNDS 150

static struct sample {
    uint64_t begin, middle, end;
} sample[SAMPLES];

static void print(const char *row)
{
    for (int i = 0; i < SAMPLES; i++) {
        printf("overheads: %s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", row, sample[i].begin,
               sample[i].middle, sample[i].end);
    }
}

/* `middle` is set where the request says the time in its handler. */
#define MEASURE(row, before, request)                                                              \
    do {                                                                                           \
        for (int i = 0; i < ROUNDS; i++) {                                                         \
            struct sample *s = &sample[i % SAMPLES];                                               \
            before;                                                                                \
            s->middle = 0;                                                                         \
            s->begin = cycles();                                                                   \
            request;                                                                               \
            s->end = cycles();                                                                     \
        }                                                                                          \
        print(row);                                                                                \
    } while (0)
