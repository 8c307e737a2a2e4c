/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Parameters in messages: one after the other without gaps, strings with their final 0, arrays
 * after their number of elements. What the caller gets from a message is on the heap and the
 * caller's.
 */
#pragma once

#include <camkes/error.h>
#include <camkes/platform.h>
#include <string.h>

#define CAMKES_MESSAGE_BYTES (seL4_MsgMaxLength * sizeof(seL4_Word))

/* Where errors belong to. */
struct camkes_place {
    const char *instance;
    const char *interface;
    camkes_error_handler_t *handler;
};

/* A message that is written or read. After an overrun nothing more is copied. */
struct camkes_message {
    unsigned char *start;
    size_t at;
    size_t end;
    camkes_error_type_t error;
    size_t wanted; /* the length that would have been enough so far */
};

/* The running thread's message registers. */
static inline unsigned char *camkes_message_registers(void)
{
    return (unsigned char *)seL4_GetIPCBuffer()->msg;
}

/* A message to write. */
static inline struct camkes_message camkes_message_new(void)
{
    return (struct camkes_message){.start = camkes_message_registers(),
                                   .end = CAMKES_MESSAGE_BYTES};
}

/* A message in memory that both sides share, to write or to read. */
static inline struct camkes_message camkes_message_at(void *memory, size_t size)
{
    return (struct camkes_message){.start = memory, .end = size};
}

/* A received message to read. */
static inline struct camkes_message camkes_message_received(unsigned words)
{
    return (struct camkes_message){.start = camkes_message_registers(),
                                   .end = words * sizeof(seL4_Word)};
}

/* The words that were written. */
static inline unsigned camkes_message_words(const struct camkes_message *message)
{
    return (unsigned)((message->at + sizeof(seL4_Word) - 1) / sizeof(seL4_Word));
}

/* Room for the next `size` bytes, NULL after an overrun. */
static inline unsigned char *camkes_message_next(struct camkes_message *message, size_t size,
                                                 camkes_error_type_t overrun)
{
    if (message->error != CE_NO_ERROR || size > message->end - message->at) {
        if (message->error == CE_NO_ERROR) {
            message->error = overrun;
            message->wanted = message->at + size;
        }
        return NULL;
    }
    unsigned char *next = message->start + message->at;
    message->at += size;
    return next;
}

static inline void camkes_put(struct camkes_message *message, const void *value, size_t size)
{
    unsigned char *next = camkes_message_next(message, size, CE_BUFFER_LENGTH_EXCEEDED);
    if (next != NULL && size > 0) {
        memcpy(next, value, size);
    }
}

static inline void camkes_get(struct camkes_message *message, void *value, size_t size)
{
    const unsigned char *next = camkes_message_next(message, size, CE_MALFORMED_RPC_PAYLOAD);
    if (next != NULL && size > 0) {
        memcpy(value, next, size);
    }
}

void camkes_put_string(struct camkes_message *message, const char *string);
void camkes_put_array(struct camkes_message *message, const void *array, size_t count, size_t size);
void camkes_put_strings(struct camkes_message *message, char *const *strings, size_t count);

/* NULL (and 0) after an error. */
char *camkes_get_string(struct camkes_message *message);
void *camkes_get_array(struct camkes_message *message, size_t *count, size_t size);
char **camkes_get_strings(struct camkes_message *message, size_t *count);
void camkes_free_strings(char **strings, size_t count);

/*
 * Room for the `in` strings and arrays of a request, which the server only looks at: a received
 * message and some space to align each. Nested requests reuse the message registers.
 */
struct camkes_scratch {
    size_t used;
    _Alignas(max_align_t) unsigned char bytes[CAMKES_MESSAGE_BYTES + 8 * sizeof(max_align_t)];
};

/* The same out of scratch; what does not fit there is an error of the caller's message. */
const char *camkes_view_string(struct camkes_message *message, struct camkes_scratch *scratch);
void *camkes_view_array(struct camkes_message *message, struct camkes_scratch *scratch,
                        size_t *count, size_t size);

/* Is the message good? If not the error is reported, and the answer says whether to go on. */
bool camkes_message_good(const struct camkes_message *message, const struct camkes_place *place,
                         const char *method);
/* A method number that is none: reported. */
void camkes_message_no_method(const struct camkes_place *place, uint64_t index, uint64_t methods);
