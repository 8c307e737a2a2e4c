/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Marshalling: parameters follow each other without padding, except in short messages, see
 * camkes_layout(); strings with their final 0, arrays after their number of elements. Strings and
 * arrays got from a message are on the heap, and the caller frees them; an inout array may have the
 * memory that it had before.
 */
#pragma once

#include <camkes/error.h>
#include <camkes/message_error.h>
#include <camkes/platform.h>
#include <stdlib.h>
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
    size_t unit;    /* of a word if each value starts a word, else of a byte */
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

/*
 * The layout of a message whose values have known sizes: `bytes` together, or `words` if each value
 * starts a word. It is the latter if that is a short message: then a value is put into a register
 * and taken out of it by one instruction.
 */
struct camkes_layout {
    size_t bytes;
    size_t unit; /* values start at multiples of it */
};

CAMKES_INLINE struct camkes_layout camkes_layout(size_t bytes, size_t words)
{
    const size_t word = sizeof(seL4_Word);
    return words <= CAMKES_REGISTERS ? (struct camkes_layout){.bytes = words * word, .unit = word}
                                     : (struct camkes_layout){.bytes = bytes, .unit = 1};
}

/* A message to write: a short one into `registers`, any other one (NULL) into the IPC buffer. */
CAMKES_INLINE struct camkes_message camkes_message_new(struct camkes_registers *registers,
                                                       size_t unit)
{
    if (registers == NULL) {
        return (struct camkes_message){
            .start = camkes_message_registers(), .end = CAMKES_MESSAGE_BYTES, .unit = unit};
    }
    *registers = (struct camkes_registers){{0}};
    return (struct camkes_message){
        .start = (unsigned char *)registers, .end = sizeof *registers, .unit = unit};
}

/* A message in memory that both sides share, to write or to read. */
static inline struct camkes_message camkes_message_at(void *memory, size_t size)
{
    return (struct camkes_message){.start = memory, .end = size, .unit = 1};
}

/* A received request to read, in the IPC buffer. */
static inline struct camkes_message camkes_message_received(unsigned words)
{
    return camkes_message_at(camkes_message_registers(), words * sizeof(seL4_Word));
}

/* A received reply to read, in the message registers or in memory that both sides share. */
static inline struct camkes_message camkes_message_reply_at(seL4_MessageInfo_t info, void *memory,
                                                            size_t size)
{
    const unsigned error = (unsigned)seL4_MessageInfo_get_label(info);
    return (struct camkes_message){
        .start = memory, .end = size, .unit = 1, .error = error, .refused = error != 0};
}

static inline struct camkes_message camkes_message_reply(seL4_MessageInfo_t info)
{
    return camkes_message_reply_at(info, camkes_message_registers(),
                                   seL4_MessageInfo_get_length(info) * sizeof(seL4_Word));
}

/* A message of this layout to read, in `registers` or (NULL) in the IPC buffer. */
CAMKES_INLINE struct camkes_message camkes_message_fixed(struct camkes_registers *registers,
                                                         struct camkes_layout layout)
{
    unsigned char *start =
        registers != NULL ? (unsigned char *)registers : camkes_message_registers();
    struct camkes_message message =
        camkes_message_at(start, CAMKES_WORDS(layout.bytes) * sizeof(seL4_Word));
    message.unit = layout.unit;
    return message;
}

/*
 * A request of `words` words that has this layout or is malformed. Its values are there, to be
 * taken without further checks, unless it is too short.
 */
CAMKES_INLINE struct camkes_message camkes_message_request(struct camkes_registers *registers,
                                                           struct camkes_layout layout,
                                                           unsigned words)
{
    struct camkes_message message = camkes_message_fixed(registers, layout);
    if (CAMKES_UNLIKELY(words != CAMKES_WORDS(layout.bytes))) {
        message.error =
            words < CAMKES_WORDS(layout.bytes) ? CAMKES_MESSAGE_TOO_SHORT : CAMKES_MESSAGE_TOO_LONG;
        message.end = words * sizeof(seL4_Word);
        message.wanted = layout.bytes;
    }
    return message;
}

/* Whether a reply is good and has this layout. */
CAMKES_INLINE bool camkes_reply_good(seL4_MessageInfo_t info, struct camkes_layout layout)
{
    const seL4_MessageInfo_t good = seL4_MessageInfo_new(0, 0, 0, CAMKES_WORDS(layout.bytes));
    return CAMKES_LIKELY(info.words[0] == good.words[0]);
}

/* Reports any other reply. Returns 0. */
seL4_Word camkes_reply_failed(const struct camkes_place *place, seL4_MessageInfo_t info,
                              size_t bytes, const char *method);

/* The bytes of a value with those that follow it up to the next value. */
CAMKES_INLINE size_t camkes_padded(const struct camkes_message *message, size_t size)
{
    return (size + message->unit - 1) & ~(message->unit - 1);
}

/* The next value of such a message. */
CAMKES_INLINE void camkes_take(struct camkes_message *message, void *value, size_t size)
{
    seL4_Word word;
    if (size < message->unit) { /* from the whole word, as it was put */
        (void)memcpy(&word, message->start + message->at, sizeof word);
        (void)memcpy(value, &word, size);
    } else {
        (void)memcpy(value, message->start + message->at, size);
    }
    message->at += camkes_padded(message, size);
}

/* Number of words written. */
CAMKES_INLINE unsigned camkes_message_words(const struct camkes_message *message)
{
    return (unsigned)CAMKES_WORDS(message->at);
}

/* Sets the error of a message that has none. */
CAMKES_INLINE void camkes_message_fail(struct camkes_message *message,
                                       enum camkes_message_error error, size_t wanted)
{
    if (message->error == CAMKES_MESSAGE_GOOD) {
        message->error = error;
        message->wanted = wanted;
    }
}

/* Reserves the next `size` bytes; NULL if they do not fit. */
CAMKES_INLINE unsigned char *camkes_message_next(struct camkes_message *message, size_t size,
                                                 enum camkes_message_error overrun)
{
    if (CAMKES_UNLIKELY(message->error != CAMKES_MESSAGE_GOOD ||
                        size > message->end - message->at)) {
        camkes_message_fail(message, overrun, message->at + size);
        return NULL;
    }
    unsigned char *next = message->start + message->at;
    message->at += camkes_padded(message, size);
    return next;
}

CAMKES_INLINE void camkes_put(struct camkes_message *message, const void *value, size_t size)
{
    unsigned char *next = camkes_message_next(message, size, CAMKES_MESSAGE_NO_SPACE);
    if (next != NULL && size > 0) {
        (void)memcpy(next, value, size);
    }
}

CAMKES_INLINE void camkes_get(struct camkes_message *message, void *value, size_t size)
{
    const unsigned char *next = camkes_message_next(message, size, CAMKES_MESSAGE_TOO_SHORT);
    if (next != NULL && size > 0) {
        (void)memcpy(value, next, size);
    }
}

/* The expression `then` if the value is an integer, else `other`. */
#define CAMKES_IF_INTEGER(value, then, other)                                                      \
    _Generic((value),                                                                              \
        bool: (then),                                                                              \
        char: (then),                                                                              \
        signed char: (then),                                                                       \
        unsigned char: (then),                                                                     \
        short: (then),                                                                             \
        unsigned short: (then),                                                                    \
        int: (then),                                                                               \
        unsigned: (then),                                                                          \
        long: (then),                                                                              \
        unsigned long: (then),                                                                     \
        long long: (then),                                                                         \
        unsigned long long: (then),                                                                \
        default: (other))

/* Returns 0, the value of `result`, after `call`, whose result is 0, too. An integer is returned as
 * the result of that, which is then the last instruction and needs no stack frame. */
#define CAMKES_FAIL(result, call)                                                                  \
    do {                                                                                           \
        const seL4_Word camkes_zero = (call);                                                      \
        return CAMKES_IF_INTEGER((result), camkes_zero, (result));                                 \
    } while (0)

/* Puts the scalar `value`. An integer that is narrower than its word is written with the whole
 * word, which is then one move from register to register. */
#define CAMKES_PUT(message, value)                                                                 \
    do {                                                                                           \
        __typeof__(value) camkes_value = (value);                                                  \
        camkes_put_scalar((message), &camkes_value, sizeof camkes_value,                           \
                          CAMKES_IF_INTEGER(camkes_value, true, false),                            \
                          (seL4_Word)CAMKES_IF_INTEGER(camkes_value, camkes_value, 0));            \
    } while (0)

/* A variable may be a component's: a search of schedules has a point before it is written. */
#if defined(CAMKES_WATCHED)
void __tsan_write_range(void *address, unsigned long size);
#define CAMKES_WRITES_RANGE(address, size) __tsan_write_range((address), (size))
#else
#define CAMKES_WRITES_RANGE(address, size) ((void)0)
#endif
#define CAMKES_WRITES(variable) CAMKES_WRITES_RANGE(&(variable), sizeof(variable))

/* Takes a scalar. Of a pointer that is passed as one to void, the alignment is not known. */
#define CAMKES_TAKE(message, variable)                                                             \
    do {                                                                                           \
        __typeof__(variable) camkes_value;                                                         \
        camkes_take((message), &camkes_value, sizeof camkes_value);                                \
        CAMKES_WRITES(variable);                                                                   \
        (variable) = camkes_value;                                                                 \
    } while (0)

CAMKES_INLINE void camkes_put_scalar(struct camkes_message *message, const void *value, size_t size,
                                     bool is_integer, seL4_Word word)
{
    if (is_integer && size < message->unit) {
        camkes_put(message, &word, sizeof word);
    } else {
        camkes_put(message, value, size);
    }
}

/* A parameter that is NULL is an allocation of the component that failed. */
CAMKES_INLINE bool camkes_is_missing(struct camkes_message *message, const void *what)
{
    if (CAMKES_UNLIKELY(what == NULL)) {
        camkes_message_fail(message, CAMKES_MESSAGE_MISSING, 0);
    }
    return what == NULL;
}

CAMKES_INLINE void camkes_put_array(struct camkes_message *message, const void *array, size_t count,
                                    size_t size)
{
    camkes_put(message, &count, sizeof count);
    if (CAMKES_UNLIKELY(size != 0 && count > message->end / size)) {
        camkes_message_fail(message, CAMKES_MESSAGE_NO_SPACE, message->at + count * size);
        return;
    }
    if (count > 0 && !camkes_is_missing(message, array)) {
        camkes_put(message, array, count * size);
    }
}

CAMKES_INLINE void camkes_put_string(struct camkes_message *message, const char *string)
{
    if (!camkes_is_missing(message, string)) {
        camkes_put(message, string, strlen(string) + 1);
    }
}

void camkes_put_strings(struct camkes_message *message, char *const *strings, size_t count);

/*
 * The size of an array that a handler gives, before it has set one. With assertions, an array whose
 * size it leaves so is an error of the reply; none that it gives at all has the size 0.
 */
#if CAMKES_ASSERTIONS
#define CAMKES_NO_SIZE SIZE_MAX
#define CAMKES_GIVEN_SIZE(reply, array, count) camkes_given_size(reply, array, count)
void camkes_given_size(struct camkes_message *reply, const void *array, size_t *count);
#else
#define CAMKES_NO_SIZE 0
#define CAMKES_GIVEN_SIZE(reply, array, count) ((void)0)
#endif

/* Keeps the compiler from reading a value in shared memory a second time. */
CAMKES_INLINE void camkes_read_once(void)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* The elements of the next array, in the message. Always sets `count`. */
CAMKES_INLINE const void *camkes_next_array(struct camkes_message *message, size_t *count,
                                            size_t size)
{
    size_t announced = 0;
    camkes_get(message, &announced, sizeof announced);
    camkes_read_once();
    if (CAMKES_UNLIKELY(size != 0 && announced > (message->end - message->at) / size)) {
        camkes_message_fail(message, CAMKES_MESSAGE_ARRAY, message->end + 1);
    }
    const void *next = camkes_message_next(message, announced * size, CAMKES_MESSAGE_ARRAY);
    *count = next != NULL ? announced : 0;
    return next;
}

/* On the heap. */
CAMKES_INLINE void *camkes_message_copy(struct camkes_message *message, const void *from,
                                        size_t size)
{
    void *to = malloc(size > 0 ? size : 1);
    if (CAMKES_UNLIKELY(to == NULL)) {
        camkes_message_fail(message, CAMKES_MESSAGE_NO_MEMORY, size);
    } else {
        (void)memcpy(to, from, size);
    }
    return to;
}

/* These return NULL, and a count of 0, after an error. */
char *camkes_get_string(struct camkes_message *message);
CAMKES_INLINE void *camkes_get_array(struct camkes_message *message, size_t *count, size_t size)
{
    const void *array = camkes_next_array(message, count, size);
    void *result = array != NULL ? camkes_message_copy(message, array, *count * size) : NULL;
    *count = result != NULL ? *count : 0;
    return result;
}

/* The same in place of an array of `*count` elements, whose memory is used again if the new one
 * fits, else freed. */
CAMKES_INLINE void *camkes_replace_array(struct camkes_message *message, void *old, size_t *count,
                                         size_t size)
{
    const size_t room = *count;
    const void *array = camkes_next_array(message, count, size);
    if (array != NULL && old != NULL && *count <= room) {
        CAMKES_WRITES_RANGE(old, *count * size);
        return memcpy(old, array, *count * size);
    }
    free(old);
    void *result = array != NULL ? camkes_message_copy(message, array, *count * size) : NULL;
    *count = result != NULL ? *count : 0;
    return result;
}

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

/* A copy of so many bytes there. What does not fit is an error of the caller's message. */
CAMKES_INLINE void *camkes_view(struct camkes_message *message, struct camkes_scratch *scratch,
                                const void *from, size_t size)
{
    const size_t align = _Alignof(max_align_t);
    const size_t start = (scratch->used + align - 1) / align * align;
    if (CAMKES_UNLIKELY(size > sizeof scratch->bytes - start)) {
        camkes_message_fail(message, CAMKES_MESSAGE_NO_SPACE, start + size);
        return NULL;
    }
    scratch->used = start + size;
    return memcpy(scratch->bytes + start, from, size);
}

/* As camkes_get_string() and camkes_get_array(), in the scratch buffer. */
const char *camkes_view_string(struct camkes_message *message, struct camkes_scratch *scratch);
CAMKES_INLINE void *camkes_view_array(struct camkes_message *message,
                                      struct camkes_scratch *scratch, size_t *count, size_t size)
{
    const void *array = camkes_next_array(message, count, size);
    return array != NULL ? camkes_view(message, scratch, array, *count * size) : NULL;
}

/* Sets an error if a request that was read without one does not end with its last parameter. */
static inline void camkes_message_end(struct camkes_message *message)
{
    if (message->error == CAMKES_MESSAGE_GOOD &&
        CAMKES_UNLIKELY(message->end - message->at >= sizeof(seL4_Word))) {
        message->error = CAMKES_MESSAGE_TOO_LONG;
    }
}

bool camkes_message_report(const struct camkes_message *message, const struct camkes_place *place,
                           const char *method);
bool camkes_message_ignored(const struct camkes_message *message, const struct camkes_place *place,
                            const char *method);
/* The same for the reply to a message of this side, which may have been aborted. */
void camkes_reply_report(const struct camkes_message *message, const struct camkes_place *place,
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
 * Checks a message written by this side. An error is reported; the result is
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

/* Checks the reply to a message of this side, after it was read. */
CAMKES_INLINE bool camkes_reply_read(const struct camkes_message *message,
                                     const struct camkes_place *place, const char *method)
{
    if (CAMKES_LIKELY(message->error == CAMKES_MESSAGE_GOOD)) {
        return true;
    }
    const struct camkes_message copy = camkes_message_error(message);
    camkes_reply_report(&copy, place, method);
    return false;
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

/* The same by the manager of a group, or a scheduler. */
seL4_MessageInfo_t camkes_refuse_order(const struct camkes_thread *self, seL4_Word badge,
                                       unsigned error);

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
