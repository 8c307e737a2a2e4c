/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: RT-2 */
/* Whoever writes to a shared message while it is read, what was read is good or an error. */
#include <stddef.h>
#include <string.h>

static void *spoiling_copy(void *to, const void *from, size_t size);

/* message.c copies with this: just before, another thread writes to the message. */
#define memcpy spoiling_copy
#include "../../../runtime/src/core/message.c"
#undef memcpy

#include <camkes/dataport.h>
#include <stdio.h>

static unsigned char shared[64];
static size_t spoil_at;
static unsigned char spoil_with;

static void *spoiling_copy(void *to, const void *from, size_t size)
{
    const unsigned char *start = from;
    if (start >= shared && start < shared + sizeof shared) {
        shared[spoil_at] = spoil_with;
    }
    return memmove(to, from, size);
}

seL4_IPCBuffer *seL4_GetIPCBuffer(void)
{
    return NULL;
}

static void need(bool good, const char *what)
{
    if (!good) {
        printf("%s\n", what);
        exit(1);
    }
}

static void fill(const void *data, size_t size, size_t at, unsigned char with)
{
    memset(shared, 'x', sizeof shared);
    memmove(shared, data, size);
    spoil_at = at;
    spoil_with = with;
}

static void a_string_loses_its_end(void)
{
    struct camkes_scratch scratch = {.used = 0};
    struct camkes_message message = camkes_message_at(shared, sizeof shared);
    fill("text", 5, 4, 'x');
    need(camkes_get_string(&message) == NULL, "a copied string without an end");
    need(message.error == CAMKES_MESSAGE_STRING, "no error of a copied string");
    message = camkes_message_at(shared, sizeof shared);
    fill("text", 5, 4, 'x');
    need(camkes_view_string(&message, &scratch) == NULL, "a viewed string without an end");
    need(message.error == CAMKES_MESSAGE_STRING, "no error of a viewed string");
}

static void a_string_becomes_shorter(void)
{
    struct camkes_message message = camkes_message_at(shared, sizeof shared);
    fill("text", 5, 1, 0);
    char *text = camkes_get_string(&message);
    need(text != NULL && strcmp(text, "t") == 0 && message.at == 5, "a shorter string");
    free(text);
}

/* Each byte of the count changes while the count and the elements are copied. */
static void an_array_is_what_was_counted(void)
{
    for (size_t at = 0; at < sizeof(size_t); at++) {
        struct camkes_message message = camkes_message_at(shared, sizeof shared);
        size_t count = 2, got = 0;
        fill(&count, sizeof count, at, 0xff);
        int *array = camkes_get_array(&message, &got, sizeof *array);
        need((array == NULL) == (message.error != CAMKES_MESSAGE_GOOD), "an array and an error");
        need(array == NULL ? got == 0 : got * sizeof *array <= sizeof shared, "too many elements");
        for (size_t i = 0; i < got; i++) {
            array[i]++; /* for the sanitizer */
        }
        free(array);
    }
}

static void strings_are_what_was_counted(void)
{
    for (size_t at = 0; at < 24; at++) {
        struct camkes_message message = camkes_message_at(shared, sizeof shared);
        unsigned char data[24] = {2};
        size_t count = 0;
        memmove(data + sizeof count, "one\0two", 8);
        fill(data, sizeof data, at, 'x');
        char **strings = camkes_get_strings(&message, &count);
        need((strings == NULL) == (message.error != CAMKES_MESSAGE_GOOD), "strings and an error");
        for (size_t i = 0; i < count; i++) {
            need(strlen(strings[i]) < sizeof shared, "a string without an end");
        }
        camkes_free_strings(strings, count);
    }
}

static void a_range_is_within_the_dataport(void)
{
    need(camkes_memory_cache_op(10, 0, 10, 0) == 0, "all of it");
    need(camkes_memory_cache_op(10, 10, 0, 0) == 0, "nothing at its end");
    need(camkes_memory_cache_op(10, 9, 2, 0) != 0, "more than it has");
    need(camkes_memory_cache_op(10, 11, 0, 0) != 0, "behind its end");
    need(camkes_memory_cache_op(10, 11, SIZE_MAX, 0) != 0, "around the address space");
}

int main(void)
{
    a_range_is_within_the_dataport();
    a_string_loses_its_end();
    a_string_becomes_shorter();
    an_array_is_what_was_counted();
    strings_are_what_was_counted();
    printf("good\n");
    return 0;
}
