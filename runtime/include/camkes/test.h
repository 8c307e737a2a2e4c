/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * For the code of tests, which `camkes test` runs: checks, and what is expected of the run. Each is
 * reported in a line of output, so that tests need nothing but a console.
 */
#pragma once

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * A check that fails is an error at its line, and the test goes on. `camkes_require` stops the
 * thread instead.
 */
#define camkes_expect(condition)                                                                   \
    camkes_test_check(!!(condition), __FILE__, __LINE__, "expected " #condition)
#define camkes_require(condition)                                                                  \
    ((condition) ? (void)0 : camkes_test_stop(__FILE__, __LINE__, "required " #condition))
#define camkes_fail_test(text) ((void)camkes_test_check(false, __FILE__, __LINE__, text))

/* The same of two integers, of which both are shown, and of two strings. */
#define camkes_expect_equal(actual, expected)                                                      \
    camkes_test_equal((intmax_t)(actual), (intmax_t)(expected), __FILE__, __LINE__,                \
                      #actual " == " #expected)
#define camkes_expect_text(actual, expected)                                                       \
    camkes_test_text(actual, expected, __FILE__, __LINE__, #actual " == " #expected)

/* Begins a case: checks count for the last case that began. A report names each case. */
#define camkes_case(name) camkes_test_say("case", __FILE__, __LINE__, name)

/*
 * What is expected of the run: a fault of an instance; a thread of an instance that waits for ever
 * at the end; a missed deadline of the task of an instance; response times of all its jobs that are
 * at most `limit` nanoseconds. Without these, faults and missed deadlines make a test fail, and so
 * does a test whose run() does not return.
 */
#define camkes_expect_fault(instance) camkes_test_say("fault", __FILE__, __LINE__, instance)
#define camkes_expect_blocked(instance) camkes_test_say("blocked", __FILE__, __LINE__, instance)
#define camkes_expect_missed(instance) camkes_test_say("missed", __FILE__, __LINE__, instance)
#define camkes_expect_response(instance, limit)                                                    \
    camkes_test_response(instance, (uint64_t)(limit), __FILE__, __LINE__)

#ifdef __cplusplus
extern "C" {
#endif

/* A line for the tool. */
static inline void camkes_test_say(const char *what, const char *file, int line, const char *text)
{
    (void)printf("camkes-test\t%s\t%s\t%d\t%s\n", what, file, line, text);
}

static inline bool camkes_test_check(bool good, const char *file, int line, const char *text)
{
    if (!good) {
        camkes_test_say("failed", file, line, text);
    }
    return good;
}

static inline bool camkes_test_equal(intmax_t actual, intmax_t expected, const char *file, int line,
                                     const char *text)
{
    if (actual != expected) {
        (void)printf("camkes-test\tfailed\t%s\t%d\texpected %s: it is %" PRIdMAX ", not %" PRIdMAX
                     "\n",
                     file, line, text, actual, expected);
    }
    return actual == expected;
}

static inline bool camkes_test_text(const char *actual, const char *expected, const char *file,
                                    int line, const char *text)
{
    const bool good = actual && expected && strcmp(actual, expected) == 0;
    if (!good) {
        (void)printf("camkes-test\tfailed\t%s\t%d\texpected %s: it is \"%s\", not \"%s\"\n", file,
                     line, text, actual ? actual : "(null)", expected ? expected : "(null)");
    }
    return good;
}

static inline void camkes_test_response(const char *instance, uint64_t limit, const char *file,
                                        int line)
{
    (void)printf("camkes-test\tresponse\t%s\t%d\t%s %" PRIu64 "\n", file, line, instance, limit);
}

__attribute__((noreturn)) static inline void camkes_test_stop(const char *file, int line,
                                                              const char *text)
{
    camkes_test_say("stopped", file, line, text);
    __builtin_trap(); /* abort() would be reported at its own line */
}

#ifdef __cplusplus
}
#endif
