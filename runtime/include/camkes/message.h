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
CAMKES_INLINE unsigned char *camkes_message_registers(void)
{
    return (unsigned char *)seL4_GetIPCBuffer()->msg;
}

/* The number of words that so many bytes fill. */
#define CAMKES_WORDS(bytes) (((bytes) + sizeof(seL4_Word) - 1) / sizeof(seL4_Word))
/* Whether so many bytes, a constant, are a short message, which can stay in registers. */
#define CAMKES_IS_SHORT(bytes) ((bytes) <= sizeof(struct camkes_registers))

/* A message to write: a short one into `registers`, any other one (NULL) into the IPC buffer. */
CAMKES_INLINE struct camkes_message camkes_message_new(struct camkes_registers *registers)
{
    if (registers == NULL) {
        return (struct camkes_message){.start = camkes_message_registers(),
                                       .end = CAMKES_MESSAGE_BYTES};
    }
    *registers = (struct camkes_registers){{0}};
    return (struct camkes_message){.start = (unsigned char *)registers, .end = sizeof *registers};
}

/* A message in memory that both sides share, to write or to read. */
static inline struct camkes_message camkes_message_at(void *memory, size_t size)
{
    return (struct camkes_message){.start = memory, .end = size};
}

/* A received request to read, in the IPC buffer. */
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

/*
 * A message that is `bytes` long or malformed: `words` were received, in `registers` or (NULL) in
 * the IPC buffer. Its values are there, to be taken without further checks, unless it is too short.
 */
CAMKES_INLINE struct camkes_message camkes_message_fixed(struct camkes_registers *registers,
                                                         unsigned words, size_t bytes)
{
    struct camkes_message message = {.start = registers != NULL ? (unsigned char *)registers
                                                                : camkes_message_registers(),
                                     .end = CAMKES_WORDS(bytes) * sizeof(seL4_Word)};
    if (CAMKES_UNLIKELY(words != CAMKES_WORDS(bytes))) {
        message.error =
            words < CAMKES_WORDS(bytes) ? CAMKES_MESSAGE_TOO_SHORT : CAMKES_MESSAGE_TOO_LONG;
        message.end = words * sizeof(seL4_Word);
        message.wanted = bytes;
    }
    return message;
}

/* The reply to a request, if it is `bytes` long; likewise. It may be longer. */
CAMKES_INLINE struct camkes_message camkes_message_fixed_reply(seL4_MessageInfo_t info,
                                                               struct camkes_registers *registers,
                                                               size_t bytes)
{
    const seL4_MessageInfo_t good = seL4_MessageInfo_new(0, 0, 0, CAMKES_WORDS(bytes));
    if (CAMKES_LIKELY(info.words[0] == good.words[0])) {
        return camkes_message_fixed(registers, CAMKES_WORDS(bytes), bytes);
    }
    struct camkes_message message =
        camkes_message_fixed(registers, (unsigned)seL4_MessageInfo_get_length(info), bytes);
    const unsigned label = (unsigned)seL4_MessageInfo_get_label(info);
    message.refused = label != CAMKES_MESSAGE_GOOD;
    if (message.refused) {
        message.error = label;
    } else if (message.error == CAMKES_MESSAGE_TOO_LONG) {
        message.error = CAMKES_MESSAGE_GOOD;
    }
    return message;
}

/* The next value of such a message. */
CAMKES_INLINE void camkes_take(struct camkes_message *message, void *value, size_t size)
{
    memcpy(value, message->start + message->at, size);
    message->at += size;
}

/* Number of words written. */
CAMKES_INLINE unsigned camkes_message_words(const struct camkes_message *message)
{
    return (unsigned)CAMKES_WORDS(message->at);
}

/* Reserves the next `size` bytes; NULL if they do not fit. */
CAMKES_INLINE unsigned char *camkes_message_next(struct camkes_message *message, size_t size,
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

CAMKES_INLINE void camkes_put(struct camkes_message *message, const void *value, size_t size)
{
    unsigned char *next = camkes_message_next(message, size, CAMKES_MESSAGE_NO_SPACE);
    if (next != NULL && size > 0) {
        memcpy(next, value, size);
    }
}

CAMKES_INLINE void camkes_get(struct camkes_message *message, void *value, size_t size)
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

/* Sets an error if a request that was read without one does not end with its last parameter. */
static inline void camkes_message_end(struct camkes_message *message)
{
    if (message->error == CAMKES_MESSAGE_GOOD && message->end - message->at >= sizeof(seL4_Word)) {
        message->error = CAMKES_MESSAGE_TOO_LONG;
    }
}

bool camkes_message_report(const struct camkes_message *message, const struct camkes_place *place,
                           const char *method);
bool camkes_message_ignored(const struct camkes_message *message, const struct camkes_place *place,
                            const char *method);

/* What is reported of a message: without its contents, which need not be in memory then. */
CAMKES_INLINE struct camkes_message camkes_message_error(const struct camkes_message *message)
{
    return (struct camkes_message){.at = message->at,
                                   .end = message->end,
                                   .error = message->error,
                                   .refused = message->refused,
                                   .wanted = message->wanted};
}

/*
 * Checks a message written by this side, or the reply to one. An error is reported; the result is
 * whether to continue.
 */
CAMKES_INLINE bool camkes_message_good(const struct camkes_message *message,
                                       const struct camkes_place *place, const char *method)
{
    if (CAMKES_LIKELY(message->error == CAMKES_MESSAGE_GOOD)) {
        return true;
    }
    const struct camkes_message copy = camkes_message_error(message);
    return camkes_message_report(&copy, place, method);
}

/*
 * Reports an error in a request, which the sender made, to the registered error handler. Returns
 * true if that decides to serve the request nevertheless; without a handler the request is to be
 * refused.
 */
CAMKES_INLINE bool camkes_message_accepted(const struct camkes_message *message,
                                           const struct camkes_place *place, const char *method)
{
    if (CAMKES_LIKELY(message->error == CAMKES_MESSAGE_GOOD)) {
        return true;
    }
    const struct camkes_message copy = camkes_message_error(message);
    return camkes_message_ignored(&copy, place, method);
}

/* Reports a malformed message and its sender; returns the reply that refuses it. */
seL4_MessageInfo_t camkes_refuse(const struct camkes_place *place, seL4_Word badge,
                                 seL4_Word sender, unsigned error);

/* Refuses a request for method `index`, which is not below `methods`, or one too short for an
 * index, whose error is `wrong`. */
seL4_MessageInfo_t camkes_message_no_method(const struct camkes_thread *self,
                                            const struct camkes_place *place, unsigned wrong,
                                            uint64_t index, uint64_t methods);

/* Message information of a reply that was written. */
CAMKES_INLINE seL4_MessageInfo_t camkes_message_info(const struct camkes_message *message)
{
    return seL4_MessageInfo_new(0, 0, 0, camkes_message_words(message));
}

/* The reply to a request after an error of the server, which was reported. */
static inline seL4_MessageInfo_t camkes_message_none(void)
{
    return seL4_MessageInfo_new(CAMKES_MESSAGE_REPLY, 0, 0, 0);
}
