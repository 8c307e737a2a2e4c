/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Parameters in messages: one after the other without gaps, strings with their final 0, arrays
 * after their number of elements. What the caller gets from a message is on the heap and the
 * caller's.
 */
#pragma once

#include <camkes/error.h>
#include <camkes/message_error.h>
#include <camkes/thread.h>
#include <string.h>

#define CAMKES_MESSAGE_BYTES (seL4_MsgMaxLength * sizeof(seL4_Word))

/* A client of an interface. */
struct camkes_sender {
    seL4_Word id;     /* what IFACE_get_sender_id() returns */
    const char *name; /* "instance.interface" */
    bool reported;    /* a message of it was refused, and that was printed */
};

/* The interface that messages belong to. */
struct camkes_place {
    const char *instance;
    const char *interface;
    camkes_error_handler_t *handler;
    /* uses: who serves it */
    const char *server;
    /* provides: who can send messages */
    struct camkes_sender *sender;
    unsigned senders;
};

/*
 * A message that is written or read. After an error nothing more is copied. `refused`: the error is
 * what the server says of the request. The memory may be shared with others, who may write to it
 * at any time: what is in it is read once, and the copy is checked.
 */
struct camkes_message {
    unsigned char *start;
    size_t at;
    size_t end;
    unsigned error; /* enum camkes_message_error, or anything else that a server replied */
    bool refused;
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

/* The words that were written. */
static inline unsigned camkes_message_words(const struct camkes_message *message)
{
    return (unsigned)((message->at + sizeof(seL4_Word) - 1) / sizeof(seL4_Word));
}

/* Room for the next `size` bytes, NULL after an overrun. */
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

/* Whether a request was read without an error and has nothing behind its last parameter. */
static inline bool camkes_message_ends(struct camkes_message *message)
{
    if (message->error == CAMKES_MESSAGE_GOOD && message->end - message->at >= sizeof(seL4_Word)) {
        message->error = CAMKES_MESSAGE_TOO_LONG;
    }
    return message->error == CAMKES_MESSAGE_GOOD;
}

/*
 * Whether a message that this side wrote, or the reply to one, has no error. If it has, the error
 * is reported, and the result says whether to go on.
 */
bool camkes_message_good(const struct camkes_message *message, const struct camkes_place *place,
                         const char *method);

/*
 * A request with an error is its sender's mistake. An error handler that is registered learns of
 * it; true: it wants the request to be served nevertheless. Without one the request is to be
 * refused.
 */
bool camkes_message_ignored(const struct camkes_message *message, const struct camkes_place *place,
                            const char *method);

/* Reports a malformed message and who sent it; the result is the reply that refuses it. */
seL4_MessageInfo_t camkes_refuse(const struct camkes_thread *self, const struct camkes_place *place,
                                 unsigned error) __attribute__((cold));

/* Refuses a request for method `index` of `methods`, or one that is too short to say which. */
seL4_MessageInfo_t camkes_message_no_method(const struct camkes_thread *self,
                                            const struct camkes_message *message,
                                            const struct camkes_place *place, uint64_t index,
                                            uint64_t methods) __attribute__((cold));

/* The reply that was written. */
static inline seL4_MessageInfo_t camkes_message_info(const struct camkes_message *message)
{
    return seL4_MessageInfo_new(0, 0, 0, camkes_message_words(message));
}

/* The reply to a request that the server has no reply for, which was reported. */
static inline seL4_MessageInfo_t camkes_message_none(void)
{
    return seL4_MessageInfo_new(CAMKES_MESSAGE_REPLY, 0, 0, 0);
}
