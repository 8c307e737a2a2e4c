/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: RT-2 */
/* Whatever bytes a client sends, unmarshalling neither reads nor writes where it should not. */
#include <camkes/label.h>
#include <camkes/message.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static seL4_IPCBuffer *buffer;

seL4_IPCBuffer *seL4_GetIPCBuffer(void)
{
    return buffer;
}

static unsigned reported;
static camkes_error_t last;

camkes_error_action_t camkes_received_error(camkes_error_handler_t handler, camkes_error_t *error)
{
    return camkes_handle_error(handler, error);
}

void camkes_print(const char *format, ...)
{
    (void)format;
}

void camkes_host_annotate(uint16_t kind, uint16_t other, unsigned n, const uint64_t *args)
{
    (void)kind, (void)other, (void)n, (void)args;
}

camkes_error_action_t camkes_handle_error(camkes_error_handler_t handler, camkes_error_t *error)
{
    (void)handler;
    last = *error;
    reported += error->type != CE_NO_ERROR && error->description != NULL;
    return CEA_DISCARD;
}

static uint32_t state = 7;

static unsigned random_below(unsigned limit)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % limit;
}

static void need(bool good, const char *what)
{
    if (!good) {
        printf("%s\n", what);
        exit(1);
    }
}

/* Bytes like those of messages: mostly small numbers and letters. */
static void fill(void)
{
    unsigned char *bytes = camkes_message_registers();
    for (size_t i = 0; i < CAMKES_MESSAGE_BYTES; i++) {
        bytes[i] = (unsigned char)(random_below(3) == 0   ? 0
                                   : random_below(2) == 0 ? random_below(9)
                                                          : random_below(256));
    }
}

static void unmarshal_anything(void)
{
    static camkes_error_handler_t none;
    static const struct camkes_place place = {
        .instance = "instance", .interface = "interface", .handler = &none};
    struct camkes_message message = camkes_message_received(random_below(seL4_MsgMaxLength + 1));
    struct camkes_scratch scratch;
    scratch.used = 0;
    for (int parts = 0; parts < 12; parts++) {
        size_t count = 99;
        uint64_t scalar = 0;
        switch (random_below(6)) {
        case 0:
            camkes_get(&message, &scalar, 1 + random_below(8));
            break;
        case 1: {
            char *text = camkes_get_string(&message);
            need(text == NULL || strlen(text) < CAMKES_MESSAGE_BYTES, "a string without an end");
            free(text);
            break;
        }
        case 2: {
            int *array = camkes_get_array(&message, &count, sizeof *array);
            need(array != NULL || count == 0, "elements without an array");
            for (size_t i = 0; i < count; i++) {
                scalar += (uint64_t)array[i];
            }
            free(array);
            break;
        }
        case 3: {
            char **strings = camkes_get_strings(&message, &count);
            need(strings != NULL || count == 0, "strings without an array");
            for (size_t i = 0; i < count; i++) {
                scalar += strlen(strings[i]);
            }
            camkes_free_strings(strings, count);
            break;
        }
        case 4: {
            const char *text = camkes_view_string(&message, &scratch);
            scalar += text == NULL ? 0 : strlen(text);
            break;
        }
        default: {
            const uint64_t *array = camkes_view_array(&message, &scratch, &count, sizeof *array);
            for (size_t i = 0; array != NULL && i < count; i++) {
                scalar += array[i];
            }
        }
        }
        need(message.at <= message.end, "read past the end");
    }
    const unsigned before = reported;
    need(camkes_message_good(&message, &place, "method") == (message.error == CAMKES_MESSAGE_GOOD),
         "good?");
    need(reported - before == (message.error != CAMKES_MESSAGE_GOOD), "not reported");
}

static void marshal_too_much(void)
{
    struct camkes_message message = camkes_message_new(NULL, 1);
    static const char text[2 * CAMKES_MESSAGE_BYTES];
    for (int parts = 0; parts < 20; parts++) {
        camkes_put_array(&message, text, random_below(200), 1);
        need(message.at <= CAMKES_MESSAGE_BYTES, "wrote past the end");
    }
    camkes_put_array(&message, text, SIZE_MAX / 2, 4);
    need(message.error == CAMKES_MESSAGE_NO_SPACE, "an overrun went unseen");
    need(camkes_message_words(&message) <= seL4_MsgMaxLength, "too many words");
    message = camkes_message_new(NULL, 1);
    camkes_put_array(&message, NULL, 0, 4);
    need(message.error == CAMKES_MESSAGE_GOOD, "an empty array needs no memory");
    camkes_put_array(&message, NULL, 1, 4);
    need(message.error == CAMKES_MESSAGE_MISSING, "another one does");
}

/* Each part is followed by another, so that its length counts. */
static void what_was_sent(void)
{
    static const int array[3] = {1, -2, 3};
    char *strings[2] = {"", "two"};
    const uint32_t number = 77;
    struct camkes_scratch scratch;
    struct camkes_message message = camkes_message_new(NULL, 1);
    camkes_put_array(&message, array, 3, sizeof *array);
    camkes_put_string(&message, "text");
    camkes_put_strings(&message, strings, 2);
    camkes_put(&message, &number, sizeof number);
    const unsigned words = camkes_message_words(&message);
    for (int viewed = 0; viewed < 2; viewed++) {
        size_t elements = 0, count = 0;
        uint32_t last = 0;
        scratch.used = 0;
        message = camkes_message_received(words);
        const int *got = viewed ? camkes_view_array(&message, &scratch, &elements, sizeof *got)
                                : camkes_get_array(&message, &elements, sizeof *got);
        const char *text =
            viewed ? camkes_view_string(&message, &scratch) : camkes_get_string(&message);
        char **all = camkes_get_strings(&message, &count);
        camkes_get(&message, &last, sizeof last);
        need(message.error == CAMKES_MESSAGE_GOOD && elements == 3 && count == 2, "lengths");
        need(memcmp(got, array, sizeof array) == 0 && strcmp(text, "text") == 0, "parts");
        need(strcmp(all[0], "") == 0 && strcmp(all[1], "two") == 0 && last == 77, "later parts");
        camkes_free_strings(all, count);
        if (!viewed) {
            free((void *)(uintptr_t)got);
            free((void *)(uintptr_t)text);
        }
    }
}

static void labels(void)
{
    for (int i = 0; i < 1000; i++) {
        const struct camkes_request_label sent = {
            .priority = (uint8_t)random_below(256),
            .task = i % 7 == 0 ? CAMKES_NO_TASK : (uint16_t)random_below(4095),
            .sequence = (uint16_t)random_below(65536),
        };
        const seL4_Word word = camkes_request_label(sent);
        need(word >> 52 == 0, "a label that the message info has no room for");
        const struct camkes_request_label got = camkes_request_label_read(word);
        need(got.priority == sent.priority && got.task == sent.task &&
                 got.sequence == sent.sequence,
             "a label was changed");
    }
}

/* The fields of an error that its type has. */
static void fields_of_errors(void)
{
    static camkes_error_handler_t none;
    static const struct camkes_place place = {
        .instance = "instance", .interface = "interface", .handler = &none};
    static const struct camkes_thread self = {.badge = 3};
    struct camkes_message message = {
        .at = 5, .end = 7, .wanted = 11, .error = CAMKES_MESSAGE_NO_MEMORY};
    need(!camkes_message_good(&message, &place, "m"), "an error that is not one");
    need(last.type == CE_ALLOCATION_FAILURE && last.alloc_bytes == 11, "bytes to allocate");
    message.error = CAMKES_MESSAGE_NO_SPACE;
    (void)camkes_message_good(&message, &place, "m");
    need(last.type == CE_BUFFER_LENGTH_EXCEEDED && last.current_length == 7 &&
             last.target_length == 11,
         "lengths of a buffer");
    message.error = CAMKES_MESSAGE_STRING;
    (void)camkes_message_good(&message, &place, "m");
    need(last.type == CE_MALFORMED_RPC_PAYLOAD && last.length == 7 && last.current_index == 5,
         "a place in a message");

    seL4_MessageInfo_t reply = camkes_message_no_method(&self, &place, CAMKES_MESSAGE_GOOD, 6, 4);
    need(last.type == CE_INVALID_METHOD_INDEX && last.upper_bound == 4 && last.invalid_index == 6,
         "the index of a method");
    need(seL4_MessageInfo_get_label(reply) == CAMKES_MESSAGE_METHOD, "refused for its method");
    reply = camkes_message_no_method(&self, &place, CAMKES_MESSAGE_TOO_SHORT, 6, 4);
    need(last.type == CE_MALFORMED_RPC_PAYLOAD, "a request too short for an index");
    need(seL4_MessageInfo_get_label(reply) == CAMKES_MESSAGE_TOO_SHORT, "refused as too short");
}

/* What is missing of a string: all of it, or its end. */
static void strings_at_the_end(void)
{
    for (size_t size = 0; size < 3; size++) {
        memcpy(camkes_message_registers(), "abc", 3);
        struct camkes_message message = camkes_message_at(camkes_message_registers(), size);
        need(camkes_get_string(&message) == NULL, "a string without an end");
        need(message.error == (size == 0 ? CAMKES_MESSAGE_TOO_SHORT : CAMKES_MESSAGE_STRING),
             "the error of a string without an end");
    }
}

/* An array that is as long as the rest of the message, and one that is longer. */
static void arrays_at_the_end(void)
{
    for (size_t more = 0; more < 2; more++) {
        struct camkes_message message = camkes_message_new(NULL, 1);
        const size_t announced = 3 + more;
        camkes_put(&message, &announced, sizeof announced);
        camkes_put(&message, "\0\0", 3); /* three empty strings */
        size_t count = 0;
        message = camkes_message_at(camkes_message_registers(), sizeof announced + 3);
        char **strings = camkes_get_strings(&message, &count);
        need((strings != NULL) == (more == 0) && count == (more == 0 ? 3 : 0), "strings");
        need(message.error == (more == 0 ? CAMKES_MESSAGE_GOOD : CAMKES_MESSAGE_ARRAY),
             "the error of an array that is too long");
        camkes_free_strings(strings, count);
    }
}

/* An array whose size in bytes does not fit a number is too long, however few bytes are left of it.
 */
static void array_that_wraps_around(void)
{
    struct camkes_message message = camkes_message_new(NULL, 1);
    camkes_put_array(&message, "", 2, SIZE_MAX / 2 + 1);
    need(message.error == CAMKES_MESSAGE_NO_SPACE, "an array of no bytes");
}

/* Of nothing: neither bytes nor strings. */
static void nothing(void)
{
    size_t count = 7;
    char before = 'x';
    struct camkes_message message = camkes_message_new(NULL, 1);
    camkes_put(&message, &before, 0);
    camkes_put_strings(&message, NULL, 0);
    const size_t length = message.at;
    message = camkes_message_at(camkes_message_registers(), length);
    camkes_get(&message, &before, 0);
    char **const strings = camkes_get_strings(&message, &count);
    need(before == 'x' && message.at == length, "a value without bytes");
    need(message.error == CAMKES_MESSAGE_GOOD && strings != NULL && count == 0, "no strings");
    camkes_free_strings(strings, count);
}

static void strings_in_the_scratch_buffer(void)
{
    static const char TEXT[] = "a\0b\0c\0d";
    memcpy(camkes_message_registers(), TEXT, sizeof TEXT);
    struct camkes_message message = camkes_message_at(camkes_message_registers(), sizeof TEXT);
    struct camkes_scratch scratch;
    const char *found[4];
    scratch.used = 0;
    for (unsigned i = 0; i < 4; i++) {
        found[i] = camkes_view_string(&message, &scratch);
    }
    for (unsigned i = 0; i < 4; i++) {
        need(found[i] != NULL && strcmp(found[i], TEXT + 2 * i) == 0, "a string beside others");
    }
}

int main(void)
{
    buffer = malloc(sizeof *buffer);
    for (int i = 0; i < 2000; i++) {
        fill();
        unmarshal_anything();
    }
    for (int i = 0; i < 100; i++) {
        marshal_too_much();
    }
    what_was_sent();
    labels();
    fields_of_errors();
    strings_at_the_end();
    arrays_at_the_end();
    array_that_wraps_around();
    nothing();
    strings_in_the_scratch_buffer();
    need(reported > 100, "nothing happened");
    free(buffer);
    printf("good\n");
    return 0;
}
