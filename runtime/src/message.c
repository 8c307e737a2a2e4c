/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes/message.h>
#include <stdio.h>
#include <stdlib.h>

static void set_error(struct camkes_message *message, camkes_error_type_t error, size_t wanted)
{
    if (message->error == CE_NO_ERROR) {
        message->error = error;
        message->wanted = wanted;
    }
}

/* What is NULL was to be on the heap: that there is nothing is an allocation that failed. */
static bool is_missing(struct camkes_message *message, const void *what)
{
    if (what == NULL) {
        set_error(message, CE_ALLOCATION_FAILURE, 0);
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
        set_error(message, CE_BUFFER_LENGTH_EXCEEDED, message->at + count * size);
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
    for (size_t i = 0; i < count && message->error == CE_NO_ERROR; i++) {
        camkes_put_string(message, strings[i]);
    }
}

/* The next string with its final 0, NULL: there is none. */
static const char *next_string(struct camkes_message *message, size_t *length)
{
    const unsigned char *start = message->start + message->at;
    const size_t room = message->error == CE_NO_ERROR ? message->end - message->at : 0;
    const unsigned char *final = room > 0 ? memchr(start, 0, room) : NULL;
    if (final == NULL) {
        set_error(message, CE_MALFORMED_RPC_PAYLOAD, message->end + 1);
        return NULL;
    }
    *length = (size_t)(final - start) + 1;
    message->at += *length;
    return (const char *)start;
}

/* The next array's elements; `count` is set in any case. */
static const void *next_array(struct camkes_message *message, size_t *count, size_t size)
{
    *count = 0;
    camkes_get(message, count, sizeof *count);
    if (size != 0 && *count > message->end / size) {
        set_error(message, CE_MALFORMED_RPC_PAYLOAD, message->end + 1);
    }
    const void *next = message->error == CE_NO_ERROR
                           ? camkes_message_next(message, *count * size, CE_MALFORMED_RPC_PAYLOAD)
                           : NULL;
    *count = next != NULL ? *count : 0;
    return next;
}

static void *copy(struct camkes_message *message, const void *from, size_t size)
{
    void *to = malloc(size > 0 ? size : 1);
    if (to == NULL) {
        set_error(message, CE_ALLOCATION_FAILURE, size);
    } else if (size > 0) {
        memcpy(to, from, size);
    }
    return to;
}

char *camkes_get_string(struct camkes_message *message)
{
    size_t length = 0;
    const char *string = next_string(message, &length);
    return string != NULL ? copy(message, string, length) : NULL;
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
    if (message->error != CE_NO_ERROR || announced > message->end - message->at) {
        set_error(message, CE_MALFORMED_RPC_PAYLOAD, message->end + 1);
        return NULL;
    }
    char **strings = calloc(announced > 0 ? announced : 1, sizeof *strings);
    if (strings == NULL) {
        set_error(message, CE_ALLOCATION_FAILURE, announced * sizeof *strings);
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
        set_error(message, CE_BUFFER_LENGTH_EXCEEDED, start + size);
        return NULL;
    }
    scratch->used = start + size;
    if (size > 0) {
        memcpy(scratch->bytes + start, from, size);
    }
    return scratch->bytes + start;
}

const char *camkes_view_string(struct camkes_message *message, struct camkes_scratch *scratch)
{
    size_t length = 0;
    const char *string = next_string(message, &length);
    return string != NULL ? view(message, scratch, string, length) : NULL;
}

void *camkes_view_array(struct camkes_message *message, struct camkes_scratch *scratch,
                        size_t *count, size_t size)
{
    const void *array = next_array(message, count, size);
    return array != NULL ? view(message, scratch, array, *count * size) : NULL;
}

bool camkes_message_good(const struct camkes_message *message, const struct camkes_place *place,
                         const char *method)
{
    if (message->error == CE_NO_ERROR) {
        return true;
    }
    char text[96];
    const bool missing = message->error == CE_ALLOCATION_FAILURE && message->wanted == 0;
    (void)snprintf(text, sizeof text, "message of %s()%s", method,
                   missing ? ": a string or an array is NULL" : "");
    camkes_error_t error = {
        .type = message->error,
        .instance = place->instance,
        .interface = place->interface,
        .description = text,
    };
    switch (message->error) {
    case CE_BUFFER_LENGTH_EXCEEDED:
        error.current_length = (unsigned)message->end;
        error.target_length = (unsigned)message->wanted;
        break;
    case CE_MALFORMED_RPC_PAYLOAD:
        error.length = (unsigned)message->end;
        error.current_index = (unsigned)message->at;
        break;
    default:
        error.alloc_bytes = message->wanted;
    }
    return camkes_handle_error(*place->handler, &error) == CEA_IGNORE;
}

void camkes_message_no_method(const struct camkes_place *place, uint64_t index, uint64_t methods)
{
    camkes_error_t error = {
        .type = CE_INVALID_METHOD_INDEX,
        .instance = place->instance,
        .interface = place->interface,
        .description = "a request for a method that does not exist",
        .upper_bound = methods,
        .invalid_index = index,
    };
    (void)camkes_handle_error(*place->handler, &error);
}
