/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * What a measuring application prints: lines
 *
 *     camkes-measure: ROW BEGIN MIDDLE END *SUM
 *
 * with the counter before a request, in its handler, and after it; SUM is of the text between the
 * colon and the star, so that a character that the serial line damages is found. The first line of
 * an image has what it is, the last one is `end`.
 */
#pragma once

#include <cycles.h>
#include <inttypes.h>
#include <stdio.h>

#ifndef SAMPLES
#define SAMPLES 15
#endif
/* Only the last samples are kept: after 64 switches the kernel gives up the registers for floating
 * point, which printf() used, and a switch costs a little less. */
#define ROUNDS (SAMPLES + 135)

static struct sample {
    uint64_t begin, middle, end;
} sample[SAMPLES];

static inline void measure_say(const char *text)
{
    unsigned sum = 0;
    for (const char *next = text; *next != 0; next++) {
        sum = (sum * 31 + (unsigned char)*next) & 0xffff;
    }
    printf("camkes-measure: %s *%04x\n", text, sum);
}

#ifdef __clang__
#define COMPILER_NAME "clang"
#define COMPILER_VERSION __clang_major__, __clang_minor__, __clang_patchlevel__
#else
#define COMPILER_NAME "gcc"
#define COMPILER_VERSION __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__
#endif

#ifdef MEASURE_ABOUT
/* The first line, before anything is measured. */
static inline void measure_begin(void)
{
    char line[512];
    cycles_begin();
    (void)snprintf(line, sizeof line,
                   "begin %s %s counter=" COUNTER " compiler=" COMPILER_NAME "-%d.%d.%d",
                   MEASURE_PART, MEASURE_ABOUT, COMPILER_VERSION);
    measure_say(line);
}
#endif

static inline void measure_line(const char *row, uint64_t begin, uint64_t middle, uint64_t end)
{
    char line[128];
    (void)snprintf(line, sizeof line, "%s %" PRIu64 " %" PRIu64 " %" PRIu64, row, begin, middle,
                   end);
    measure_say(line);
}

static inline void measure_print(const char *row)
{
    for (int i = 0; i < SAMPLES; i++) {
        measure_line(row, sample[i].begin, sample[i].middle, sample[i].end);
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
        measure_print(row);                                                                        \
    } while (0)
