/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* What generated mocks of interfaces have in common. */
#pragma once

#include <camkes/test.h>

/* the last calls that a mock records, and how much of a string and of an array */
#define CAMKES_MOCK_CALLS 64
#define CAMKES_MOCK_TEXT 64
#define CAMKES_MOCK_ITEMS 16
/* answers that can be in a script at a time */
#define CAMKES_MOCK_ANSWERS 64

/* How a mock fails instead of answering. */
enum camkes_mock_failure {
    CAMKES_MOCK_ANSWERS_CALL,
    CAMKES_MOCK_CRASHES,       /* its component stops at a fault */
    CAMKES_MOCK_NEVER_ANSWERS, /* the thread that serves the call waits for ever */
};

/* A scripted call: the call number `index` of the method number `method` of mocks.c. */
struct camkes_mock_step {
    unsigned method;
    unsigned index;
};

/* Copies on the heap of what a call passes and its handler may replace. */
static inline void *camkes_mock_copy(const void *items, size_t size)
{
    void *const copy = malloc(size + 1);
    if (copy != NULL && size > 0) {
        (void)memcpy(copy, items, size);
    }
    return copy;
}

static inline char **camkes_mock_texts(const char *const *texts, size_t count)
{
    char **const copy = (char **)camkes_mock_copy(texts, count * sizeof(*texts));
    for (size_t i = 0; copy != NULL && i < count; i++) {
        copy[i] = strdup(texts[i]);
    }
    return copy;
}

/* Checks of values that are not integers or strings. */
static inline void camkes_mock_same(const void *actual, const void *expected, size_t size,
                                    const char *file, int line, const char *what)
{
    if (memcmp(actual, expected, size) != 0) {
        (void)printf("camkes-test\tfailed\t%s\t%d\t%s is not as expected\n", file, line, what);
    }
}

static inline void camkes_mock_same_items(const void *actual, size_t count, const void *expected,
                                          size_t expected_count, size_t size, const char *file,
                                          int line, const char *what)
{
    if (count != expected_count) {
        (void)printf("camkes-test\tfailed\t%s\t%d\texpected %zu items of %s: there are %zu\n", file,
                     line, expected_count, what, count);
    } else {
        for (size_t i = 0; i < count; i++) {
            if (memcmp((const char *)actual + i * size, (const char *)expected + i * size, size) !=
                0) {
                (void)printf("camkes-test\tfailed\t%s\t%d\titem %zu of %s is not as expected\n",
                             file, line, i, what);
            }
        }
    }
}

static inline void camkes_mock_same_texts(char *const *actual, size_t count,
                                          const char *const *expected, size_t expected_count,
                                          const char *file, int line, const char *what)
{
    if (count != expected_count) {
        (void)printf("camkes-test\tfailed\t%s\t%d\texpected %zu strings of %s: there are %zu\n",
                     file, line, expected_count, what, count);
    } else {
        for (size_t i = 0; i < count; i++) {
            (void)camkes_test_text(actual[i], expected[i], file, line, what);
        }
    }
}

static inline void camkes_mock_within(uint64_t response, uint64_t limit, const char *file, int line,
                                      const char *what)
{
    if (limit > 0 && response > limit) {
        (void)printf("camkes-test\tfailed\t%s\t%d\texpected an answer of %s within %" PRIu64
                     " ns: it took %" PRIu64 " ns\n",
                     file, line, what, limit, response);
    }
}
