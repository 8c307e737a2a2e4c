/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* What a reading itself costs is the row "counter". */
#include <camkes.h>
#include <measure.h>
#include <stdlib.h>

#define COUNT 8
#define NUMBERS 256 /* as many do not fit into the IPC buffer */

static uint64_t a, b, c, d, e, f, g;
static point_t point;
static char *text;
static int *values;
static size_t count;
static int numbers[NUMBERS];

/* New values, on the heap, as an inout parameter is to be. */
static void give(void)
{
    free(values);
    values = calloc(COUNT, sizeof *values);
    count = COUNT;
}

static void forget(void)
{
    free(values);
    free(text);
    values = NULL;
    text = NULL;
    count = 0;
}

/* Writes words to a dataport, and reads others. */
#define USE(who)                                                                                   \
    do {                                                                                           \
        volatile uint64_t *const words = (volatile uint64_t *)(void *)who##_memory;                \
        for (int i = 0; i < COUNT; i++) {                                                          \
            words[i] = a;                                                                          \
        }                                                                                          \
        who##_memory_release();                                                                    \
        who##_memory_acquire();                                                                    \
        for (int i = 0; i < COUNT; i++) {                                                          \
            b += words[COUNT + i];                                                                 \
        }                                                                                          \
    } while (0)

#define ROWS(who)                                                                                  \
    do {                                                                                           \
        static const int in[COUNT] = {1, 2, 3};                                                    \
        static char *texts[] = {"one", "two", "three"};                                            \
        MEASURE(#who "_nothing", , who##_nothing());                                               \
        MEASURE(#who "_in4", , who##_in4(a, b, c, d));                                             \
        MEASURE(#who "_in5", , who##_in5(a, b, c, d, e));                                          \
        MEASURE(#who "_in8", , who##_in8(a, b, c, d, e, f, g, 8));                                 \
        MEASURE(#who "_out4", , who##_out4(&a, &b, &c));                                           \
        MEASURE(#who "_out8", , who##_out8(&a, &b, &c, &d, &e, &f, &g));                           \
        MEASURE(#who "_point_in", , who##_point_in(point));                                        \
        MEASURE(#who "_point_out", , point = who##_point_out());                                   \
        MEASURE(#who "_point_inout", , who##_point_inout(&point));                                 \
        MEASURE(#who "_string_in", , who##_string_in("0123456789abcdef"));                         \
        MEASURE(#who "_string_out", forget(), text = who##_string_out());                          \
        MEASURE(#who "_array_in", , who##_array_in(COUNT, in));                                    \
        MEASURE(#who "_array_out", forget(), who##_array_out(&count, &values));                    \
        MEASURE(#who "_array_inout", give(), who##_array_inout(&count, &values));                  \
        MEASURE(#who "_strings_in", , who##_strings_in(3, texts));                                 \
        MEASURE(#who "_crowd", , who##_crowd_nothing());                                           \
        MEASURE(#who "_numbers", , who##_numbers_add(NUMBERS, numbers));                           \
        MEASURE(#who "_memory", , USE(who));                                                       \
    } while (0)

int run(void)
{
    MEASURE("counter", , s->middle = cycles());
    ROWS(ours);
    ROWS(theirs);
    return 0;
}
