/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: TOOL-16 */
/* Checks of tests, and what mocks have in common: what each prints. */
#define _POSIX_C_SOURCE 200809L
#include "log.h"

#include <inttypes.h>
#include <setjmp.h>

static jmp_buf stopped;

static _Noreturn void stop(void)
{
    longjmp(stopped, 1);
}

static bool exhausted;

static void *allocate(size_t size)
{
    return exhausted ? NULL : malloc(size);
}

#define printf note
#define malloc allocate
#define __builtin_trap stop
#include <camkes/mock.h>

static void checks(void)
{
    need(camkes_test_check(true, "a.c", 3, "expected x"), "what is good");
    need_done("");
    need(!camkes_test_check(false, "a.c", 3, "expected x"), "what is not");
    need_done("camkes-test\tfailed\ta.c\t3\texpected x\n");
    need(camkes_test_equal(-4, -4, "a.c", 5, "x == y"), "equal");
    need_done("");
    need(!camkes_test_equal(-4, 5, "a.c", 5, "x == y"), "not equal");
    need_done("camkes-test\tfailed\ta.c\t5\texpected x == y: it is -4, not 5\n");
    need(camkes_test_text("one", "one", "a.c", 6, "s == t"), "equal texts");
    need_done("");
    need(!camkes_test_text("one", "two", "a.c", 6, "s == t"), "other texts");
    need_done("camkes-test\tfailed\ta.c\t6\texpected s == t: it is \"one\", not \"two\"\n");
    need(!camkes_test_text(NULL, "two", "a.c", 6, "s == t"), "no text");
    need_done("camkes-test\tfailed\ta.c\t6\texpected s == t: it is \"(null)\", not \"two\"\n");
    need(!camkes_test_text("one", NULL, "a.c", 6, "s == t"), "no text that is expected");
    need_done("camkes-test\tfailed\ta.c\t6\texpected s == t: it is \"one\", not \"(null)\"\n");
    camkes_test_response("task", 5000000000, "a.c", 7);
    need_done("camkes-test\tresponse\ta.c\t7\ttask 5000000000\n");
    void (*volatile stops)(const char *, int, const char *) = camkes_test_stop;
    if (setjmp(stopped) == 0) {
        stops("a.c", 8, "required x");
        need(false, "the thread goes on");
    }
    need_done("camkes-test\tstopped\ta.c\t8\trequired x\n");
}

static void copies(void)
{
    const char *const texts[] = {"one", "two"};
    const short numbers[] = {1, 2, 3};
    short *copy = camkes_mock_copy(numbers, sizeof numbers);
    need(memcmp(copy, numbers, sizeof numbers) == 0, "a copy of an array");
    free(copy);
    copy = camkes_mock_copy(NULL, 0);
    need(copy != NULL, "of an empty array");
    free(copy);
    char **strings = camkes_mock_texts(texts, 2);
    need(strcmp(strings[0], "one") == 0 && strcmp(strings[1], "two") == 0, "strings");
    need(strings[0] != texts[0], "that can be replaced");
    free(strings[0]);
    free(strings[1]);
    free(strings);
    free(camkes_mock_texts(texts, 0));
    char *const letter = camkes_mock_copy("x", 1);
    need(*letter == 'x', "one byte");
    free(letter);
    exhausted = true;
    need(camkes_mock_copy("x", 1) == NULL && camkes_mock_texts(texts, 2) == NULL, "no memory");
    exhausted = false;
}

static void values(void)
{
    const short three[] = {1, 2, 3}, other[] = {1, 5, 3};
    camkes_mock_same(three, three, sizeof three, "a.c", 3, "x");
    camkes_mock_same_items(three, 3, three, 3, sizeof *three, "a.c", 3, "x");
    camkes_mock_same_items(three, 1, other, 1, sizeof *three, "a.c", 3, "x");
    need_done("");
    camkes_mock_same(three, other, sizeof three, "a.c", 3, "x");
    need_done("camkes-test\tfailed\ta.c\t3\tx is not as expected\n");
    camkes_mock_same_items(three, 3, three, 2, sizeof *three, "a.c", 3, "x");
    need_done("camkes-test\tfailed\ta.c\t3\texpected 2 items of x: there are 3\n");
    camkes_mock_same_items(three, 3, other, 3, sizeof *three, "a.c", 3, "x");
    need_done("camkes-test\tfailed\ta.c\t3\titem 1 of x is not as expected\n");
    camkes_mock_same_items(three + 1, 1, other + 1, 1, sizeof *three, "a.c", 3, "x");
    need_done("camkes-test\tfailed\ta.c\t3\titem 0 of x is not as expected\n");
}

static void texts(void)
{
    char one[] = "one", two[] = "two";
    char *const given[] = {one, two};
    const char *const same[] = {"one", "two"}, *const other[] = {"two", "two"};
    camkes_mock_same_texts(given, 2, same, 2, "a.c", 3, "x");
    need_done("");
    camkes_mock_same_texts(given, 2, same, 1, "a.c", 3, "x");
    need_done("camkes-test\tfailed\ta.c\t3\texpected 1 strings of x: there are 2\n");
    camkes_mock_same_texts(given, 2, other, 2, "a.c", 3, "x");
    need_done("camkes-test\tfailed\ta.c\t3\texpected x: it is \"one\", not \"two\"\n");
}

static void times(void)
{
    camkes_mock_within(5, 5, "a.c", 3, "x");
    camkes_mock_within(5, 0, "a.c", 3, "x"); /* no limit */
    need_done("");
    camkes_mock_within(6, 5, "a.c", 3, "x");
    need_done("camkes-test\tfailed\ta.c\t3\texpected an answer of x within 5 ns: it took 6 ns\n");
    camkes_mock_within(2, 1, "a.c", 3, "x");
    need_done("camkes-test\tfailed\ta.c\t3\texpected an answer of x within 1 ns: it took 2 ns\n");
}

int main(void)
{
    checks();
    copies();
    values();
    texts();
    times();
    puts("good");
    return 0;
}
