/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Parameters in messages: how they are written, read and checked. */
#include <camkes/message.h>
#include <stdlib.h>

void camkes_put_strings(struct camkes_message *message, char *const *strings, size_t count)
{
    camkes_put(message, &count, sizeof count);
    if (count > 0 && camkes_is_missing(message, strings)) {
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
        camkes_message_fail(reply, CAMKES_MESSAGE_NO_SIZE, 0);
    }
}
#endif

/* The next string; `length` includes the final 0. NULL if there is none. The copy must be checked
 * with still_ends(). */
static const char *next_string(struct camkes_message *message, size_t *length)
{
    const unsigned char *start = message->start + message->at;
    const size_t left = message->error == CAMKES_MESSAGE_GOOD ? message->end - message->at : 0;
    const unsigned char *final = left > 0 ? memchr(start, 0, left) : NULL;
    if (final == NULL) {
        const bool empty = message->error == CAMKES_MESSAGE_GOOD && left == 0;
        camkes_message_fail(message, empty ? CAMKES_MESSAGE_TOO_SHORT : CAMKES_MESSAGE_STRING,
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
    CAMKES_ASSERT(length > 0); /* with the final 0 */
    camkes_read_once();
    if (copy[length - 1] != 0) {
        camkes_message_fail(message, CAMKES_MESSAGE_STRING, message->end + 1);
    }
    return copy[length - 1] == 0;
}

char *camkes_get_string(struct camkes_message *message)
{
    size_t length = 0;
    const char *string = next_string(message, &length);
    char *result = string != NULL ? camkes_message_copy(message, string, length) : NULL;
    if (result != NULL && !still_ends(message, result, length)) {
        free(result);
        return NULL;
    }
    return result;
}

char **camkes_get_strings(struct camkes_message *message, size_t *count)
{
    size_t announced = 0;
    *count = 0;
    camkes_get(message, &announced, sizeof announced);
    camkes_read_once();
    if (message->error != CAMKES_MESSAGE_GOOD || announced > message->end - message->at) {
        camkes_message_fail(message, CAMKES_MESSAGE_ARRAY, message->end + 1);
        return NULL;
    }
    char **strings = calloc(announced > 0 ? announced : 1, sizeof *strings);
    if (strings == NULL) {
        camkes_message_fail(message, CAMKES_MESSAGE_NO_MEMORY, announced * sizeof *strings);
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

const char *camkes_view_string(struct camkes_message *message, struct camkes_scratch *scratch)
{
    size_t length = 0;
    const char *string = next_string(message, &length);
    const char *result = string != NULL ? camkes_view(message, scratch, string, length) : NULL;
    return result != NULL && still_ends(message, result, length) ? result : NULL;
}
