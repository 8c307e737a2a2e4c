/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Marshalling: parameters follow each other without padding, strings with their final 0, arrays
 * after their number of elements. Strings and arrays got from a message are on the heap, and the
 * caller frees them.
 */
#pragma once

#include <camkes/error.h>
#include <camkes/message_error.h>
#include <camkes/thread.h>
#include <string.h>

#define CAMKES_MESSAGE_BYTES (seL4_MsgMaxLength * sizeof(seL4_Word))

/* A client of an interface. */
struct camkes_sender {
    seL4_Word id;     /* the value of IFACE_get_sender_id() */
    const char *name; /* "instance.interface" */
    bool reported;    /* a refused message of this client was reported already */
};

/* The interface that messages belong to. */
struct camkes_place {
    const char *instance;
    const char *interface;
    camkes_error_handler_t *handler;
    /* uses: name of the server */
    const char *server;
    /* provides: the clients */
    struct camkes_sender *sender;
    unsigned senders;
};

/*
 * A message that is written or read. After an error nothing more is copied. `refused`: the error is
 * the reply of the server. The memory may be shared with components that can write to it at any
 * time, so each value is read once, and the copy is checked.
 */
struct camkes_message {
    unsigned char *start;
    size_t at;
    size_t end;
    unsigned error; /* enum camkes_message_error, or an unknown number in a reply */
    bool refused;
    size_t wanted; /* the length needed so far */
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

/* A received request to read. */
static inline struct camkes_message camkes_message_received(unsigned words)
{
    return (struct camkes_message){.start = camkes_message_registers(),
                                   .end = words * sizeof(seL4_Word)};
}

/* A received reply to read, in the message registers or in memory that both sides share. */
static inline struct camkes_message camkes_message_reply_at(seL4_MessageInfo_t info, void *memory,
                                                            size_t size)
{
    const unsigned error = (unsigned)seL4_MessageInfo_get_label(info);
    return (struct camkes_message){
        .start = memory, .end = size, .error = error, .refused = error != 0};
}

static inline struct camkes_message camkes_message_reply(seL4_MessageInfo_t info)
{
    return camkes_message_reply_at(info, camkes_message_registers(),
                                   seL4_MessageInfo_get_length(info) * sizeof(seL4_Word));
}

/* Number of words written. */
static inline unsigned camkes_message_words(const struct camkes_message *message)
{
    return (unsigned)((message->at + sizeof(seL4_Word) - 1) / sizeof(seL4_Word));
}

/* Reserves the next `size` bytes; NULL if they do not fit. */
static inline unsigned char *camkes_message_next(struct camkes_message *message, size_t size,
                                                 enum camkes_message_error overrun)
{
    if (message->error != CAMKES_MESSAGE_GOOD || size > message->end - message->at) {
        if (message->error == CAMKES_MESSAGE_GOOD) {
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
    unsigned char *next = camkes_message_next(message, size, CAMKES_MESSAGE_NO_ROOM);
    if (next != NULL && size > 0) {
        memcpy(next, value, size);
    }
}

static inline void camkes_get(struct camkes_message *message, void *value, size_t size)
{
    const unsigned char *next = camkes_message_next(message, size, CAMKES_MESSAGE_TOO_SHORT);
    if (next != NULL && size > 0) {
        memcpy(value, next, size);
    }
}

void camkes_put_string(struct camkes_message *message, const char *string);
void camkes_put_array(struct camkes_message *message, const void *array, size_t count, size_t size);
void camkes_put_strings(struct camkes_message *message, char *const *strings, size_t count);

/* These return NULL, and a count of 0, after an error. */
char *camkes_get_string(struct camkes_message *message);
void *camkes_get_array(struct camkes_message *message, size_t *count, size_t size);
char **camkes_get_strings(struct camkes_message *message, size_t *count);
void camkes_free_strings(char **strings, size_t count);

/*
 * Buffer for the `in` strings and arrays of a request, which the server does not change: the size
 * of a message, and space to align each parameter. It is needed because nested requests reuse the
 * message registers.
 */
struct camkes_scratch {
    size_t used;
    _Alignas(max_align_t) unsigned char bytes[CAMKES_MESSAGE_BYTES + 8 * sizeof(max_align_t)];
};

/* The same in the scratch buffer; parameters that do not fit are an error of the caller's message.
 * */
const char *camkes_view_string(struct camkes_message *message, struct camkes_scratch *scratch);
void *camkes_view_array(struct camkes_message *message, struct camkes_scratch *scratch,
                        size_t *count, size_t size);

/* Whether a request was read without an error and ends with its last parameter. */
static inline bool camkes_message_ends(struct camkes_message *message)
{
    if (message->error == CAMKES_MESSAGE_GOOD && message->end - message->at >= sizeof(seL4_Word)) {
        message->error = CAMKES_MESSAGE_TOO_LONG;
    }
    return message->error == CAMKES_MESSAGE_GOOD;
}

/*
 * Checks a message written by this side, or the reply to one. An error is reported; the result is
 * whether to continue.
 */
bool camkes_message_good(const struct camkes_message *message, const struct camkes_place *place,
                         const char *method);

/*
 * Reports an error in a request, which the sender made, to the registered error handler. Returns
 * true if that decides to serve the request nevertheless; without a handler the request is to be
 * refused.
 */
bool camkes_message_ignored(const struct camkes_message *message, const struct camkes_place *place,
                            const char *method);

/* Reports a malformed message and its sender; returns the reply that refuses it. */
seL4_MessageInfo_t camkes_refuse(const struct camkes_thread *self, const struct camkes_place *place,
                                 unsigned error) __attribute__((cold));

/* Refuses a request for method `index`, which is not below `methods`, or one too short for an
 * index. */
seL4_MessageInfo_t camkes_message_no_method(const struct camkes_thread *self,
                                            const struct camkes_message *message,
                                            const struct camkes_place *place, uint64_t index,
                                            uint64_t methods) __attribute__((cold));

/* Message information of a reply that was written. */
static inline seL4_MessageInfo_t camkes_message_info(const struct camkes_message *message)
{
    return seL4_MessageInfo_new(0, 0, 0, camkes_message_words(message));
}

/* The reply to a request after an error of the server, which was reported. */
static inline seL4_MessageInfo_t camkes_message_none(void)
{
    return seL4_MessageInfo_new(CAMKES_MESSAGE_REPLY, 0, 0, 0);
}
