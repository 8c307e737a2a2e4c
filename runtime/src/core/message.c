/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Parameters in messages: how they are written, read and checked. */
#include <camkes/message.h>
#include <stdlib.h>

static void set_error(struct camkes_message *message, enum camkes_message_error error,
                      size_t wanted)
{
    if (message->error == CAMKES_MESSAGE_GOOD) {
        message->error = error;
        message->wanted = wanted;
    }
}

/* A parameter that is NULL is an allocation of the component that failed. */
static bool is_missing(struct camkes_message *message, const void *what)
{
    if (what == NULL) {
        set_error(message, CAMKES_MESSAGE_MISSING, 0);
    }
    return what == NULL;
}

void camkes_put_string(struct camkes_message *message, const char *string)
{
    if (!is_missing(message, string)) {
        camkes_put(message, string, strlen(string) + 1);
    }
}

void camkes_put_array(struct camkes_message *message, const void *array, size_t count, size_t size)
{
    camkes_put(message, &count, sizeof count);
    if (size != 0 && count > message->end / size) {
        set_error(message, CAMKES_MESSAGE_NO_SPACE, message->at + count * size);
        return;
    }
    if (count > 0 && !is_missing(message, array)) {
        camkes_put(message, array, count * size);
    }
}

void camkes_put_strings(struct camkes_message *message, char *const *strings, size_t count)
{
    camkes_put(message, &count, sizeof count);
    if (count > 0 && is_missing(message, strings)) {
        return;
    }
    for (size_t i = 0; i < count && message->error == CAMKES_MESSAGE_GOOD; i++) {
        camkes_put_string(message, strings[i]);
    }
}

#if CAMKES_ASSERTIONS
void camkes_given_size(struct camkes_message *reply, const void *array, size_t *count)
{
    if (*count != CAMKES_NO_SIZE) {
        return;
    }
    *count = 0;
    if (array != NULL) {
        set_error(reply, CAMKES_MESSAGE_NO_SIZE, 0);
    }
}
#endif

/* Keeps the compiler from reading a value in shared memory a second time. */
static void read_once(void)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* The next string; `length` includes the final 0. NULL if there is none. The copy must be checked
 * with still_ends(). */
static const char *next_string(struct camkes_message *message, size_t *length)
{
    const unsigned char *start = message->start + message->at;
    const size_t left = message->error == CAMKES_MESSAGE_GOOD ? message->end - message->at : 0;
    const unsigned char *final = left > 0 ? memchr(start, 0, left) : NULL;
    if (final == NULL) {
        const bool empty = message->error == CAMKES_MESSAGE_GOOD && left == 0;
        set_error(message, empty ? CAMKES_MESSAGE_TOO_SHORT : CAMKES_MESSAGE_STRING,
                  message->end + 1);
        return NULL;
    }
    *length = (size_t)(final - start) + 1;
    message->at += *length;
    return (const char *)start;
}

/* Whether the copy of a string is terminated at its last byte: another thread may have changed the
 * source. */
static bool still_ends(struct camkes_message *message, const char *copy, size_t length)
{
    read_once();
    if (copy[length - 1] != 0) {
        set_error(message, CAMKES_MESSAGE_STRING, message->end + 1);
    }
    return copy[length - 1] == 0;
}

/* The elements of the next array. Always sets `count`. */
static const void *next_array(struct camkes_message *message, size_t *count, size_t size)
{
    size_t announced = 0;
    camkes_get(message, &announced, sizeof announced);
    read_once();
    if (size != 0 && announced > (message->end - message->at) / size) {
        set_error(message, CAMKES_MESSAGE_ARRAY, message->end + 1);
    }
    const void *next = camkes_message_next(message, announced * size, CAMKES_MESSAGE_ARRAY);
    *count = next != NULL ? announced : 0;
    return next;
}

static void *copy(struct camkes_message *message, const void *from, size_t size)
{
    void *to = malloc(size > 0 ? size : 1);
    if (to == NULL) {
        set_error(message, CAMKES_MESSAGE_NO_MEMORY, size);
    } else {
        memcpy(to, from, size);
    }
    return to;
}

char *camkes_get_string(struct camkes_message *message)
{
    size_t length = 0;
    const char *string = next_string(message, &length);
    char *result = string != NULL ? copy(message, string, length) : NULL;
    if (result != NULL && !still_ends(message, result, length)) {
        free(result);
        return NULL;
    }
    return result;
}

void *camkes_get_array(struct camkes_message *message, size_t *count, size_t size)
{
    const void *array = next_array(message, count, size);
    void *result = array != NULL ? copy(message, array, *count * size) : NULL;
    *count = result != NULL ? *count : 0;
    return result;
}

char **camkes_get_strings(struct camkes_message *message, size_t *count)
{
    size_t announced = 0;
    *count = 0;
    camkes_get(message, &announced, sizeof announced);
    read_once();
    if (message->error != CAMKES_MESSAGE_GOOD || announced > message->end - message->at) {
        set_error(message, CAMKES_MESSAGE_ARRAY, message->end + 1);
        return NULL;
    }
    char **strings = calloc(announced > 0 ? announced : 1, sizeof *strings);
    if (strings == NULL) {
        set_error(message, CAMKES_MESSAGE_NO_MEMORY, announced * sizeof *strings);
        return NULL;
    }
    for (size_t i = 0; i < announced; i++) {
        strings[i] = camkes_get_string(message);
        if (strings[i] == NULL) {
            camkes_free_strings(strings, i);
            return NULL;
        }
    }
    *count = announced;
    return strings;
}

void camkes_free_strings(char **strings, size_t count)
{
    for (size_t i = 0; strings != NULL && i < count; i++) {
        free(strings[i]);
    }
    free(strings);
}

static void *view(struct camkes_message *message, struct camkes_scratch *scratch, const void *from,
                  size_t size)
{
    const size_t align = _Alignof(max_align_t);
    const size_t start = (scratch->used + align - 1) / align * align;
    if (size > sizeof scratch->bytes - start) {
        set_error(message, CAMKES_MESSAGE_NO_SPACE, start + size);
        return NULL;
    }
    scratch->used = start + size;
    memcpy(scratch->bytes + start, from, size);
    return scratch->bytes + start;
}

const char *camkes_view_string(struct camkes_message *message, struct camkes_scratch *scratch)
{
    size_t length = 0;
    const char *string = next_string(message, &length);
    const char *result = string != NULL ? view(message, scratch, string, length) : NULL;
    return result != NULL && still_ends(message, result, length) ? result : NULL;
}

void *camkes_view_array(struct camkes_message *message, struct camkes_scratch *scratch,
                        size_t *count, size_t size)
{
    const void *array = next_array(message, count, size);
    return array != NULL ? view(message, scratch, array, *count * size) : NULL;
}
