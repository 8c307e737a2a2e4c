/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: RT-1 */
/* Marshalling at its edges: the fields of errors, sizes that just fit, and memory that is used up.
 */
#include <stdlib.h>

static void *scarce(size_t count, size_t size);

#define malloc(size) scarce(1, size)
#define calloc scarce
#include "../../../runtime/src/core/message.c"
#undef malloc
#undef calloc

#include <stdio.h>

static seL4_IPCBuffer buffer;
static unsigned left = 99; /* how often there is memory */

static void *scarce(size_t count, size_t size)
{
    return left > 0 ? left--, calloc(count, size) : NULL;
}

seL4_IPCBuffer *seL4_GetIPCBuffer(void)
{
    return &buffer;
}

static void need(bool good, const char *what)
{
    if (!good) {
        printf("%s\n", what);
        exit(1);
    }
}

static void need_error(const struct camkes_message *message, unsigned error, size_t wanted,
                       const char *what)
{
    need(message->error == error && message->wanted == wanted, what);
}

static struct camkes_message empty(void)
{
    return camkes_message_new(NULL, 1);
}

static void what_does_not_fit(void)
{
    static char *none[2];
    const size_t all = CAMKES_MESSAGE_BYTES;
    struct camkes_message message = empty();
    camkes_put_string(&message, NULL);
    need_error(&message, CAMKES_MESSAGE_MISSING, 0, "no string");
    camkes_put_array(&message, "", all, 4);
    need_error(&message, CAMKES_MESSAGE_MISSING, 0, "the first error stays");
    message = empty();
    camkes_put_array(&message, "", 3, 0);
    need(message.error == CAMKES_MESSAGE_GOOD && message.at == 8, "elements without bytes");
    message = empty();
    camkes_put_array(&message, NULL, all + 1, 1);
    need_error(&message, CAMKES_MESSAGE_NO_SPACE, 8 + all + 1, "too long, and missing");
    message = empty();
    camkes_put_array(&message, NULL, all / 4, 4);
    need_error(&message, CAMKES_MESSAGE_MISSING, 0, "missing, and too long for its count");
    message = empty();
    camkes_put_array(&message, "", all / 4 + 1, 4);
    need_error(&message, CAMKES_MESSAGE_NO_SPACE, 8 + all + 4, "elements that are too many");
    message = empty();
    camkes_put_strings(&message, NULL, 0);
    need(message.error == CAMKES_MESSAGE_GOOD && message.at == 8, "no strings need no array");
    camkes_put_strings(&message, NULL, 1);
    need_error(&message, CAMKES_MESSAGE_MISSING, 0, "no array of strings");
    message = empty();
    camkes_put_strings(&message, none, 2);
    need_error(&message, CAMKES_MESSAGE_MISSING, 0, "one string is missing");
}

static struct camkes_message received(const void *bytes, size_t size)
{
    memcpy(camkes_message_registers(), bytes, size);
    return camkes_message_at(camkes_message_registers(), size);
}

static void arrays_that_handlers_give(void)
{
    static const struct {
        const char *array;
        size_t count, given;
        unsigned error;
    } CASES[] = {
        {"abc", CAMKES_NO_SIZE, 0, CAMKES_MESSAGE_NO_SIZE},
        {NULL, CAMKES_NO_SIZE, 0, CAMKES_MESSAGE_GOOD},
        {"abc", 3, 3, CAMKES_MESSAGE_GOOD},
        {"abc", 0, 0, CAMKES_MESSAGE_GOOD},
    };
    for (unsigned i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct camkes_message reply = received("", 0);
        size_t count = CASES[i].count;
        CAMKES_GIVEN_SIZE(&reply, CASES[i].array, &count);
        need(count == CASES[i].given && reply.error == CASES[i].error, "the size that is given");
    }
}

static struct camkes_message counted(size_t count)
{
    size_t words[3] = {count, 0, 0};
    return received(words, sizeof words);
}

static void what_is_not_there(void)
{
    size_t count = 7;
    struct camkes_scratch scratch = {.used = 0};
    struct camkes_message message = received("abc", 3);
    need(camkes_view_string(&message, &scratch) == NULL, "a view of no string");
    need_error(&message, CAMKES_MESSAGE_STRING, 4, "a string goes on after the end");
    message = received("", 0);
    need(camkes_view_string(&message, &scratch) == NULL, "a view of nothing");
    need_error(&message, CAMKES_MESSAGE_TOO_SHORT, 1, "a string begins after the end");
    message = received("abc", 4);
    message.error = CAMKES_MESSAGE_ARRAY;
    need(camkes_get_string(&message) == NULL && message.at == 0, "a string after an error");
    message = received("abc", 4);
    need(camkes_view_array(&message, &scratch, &count, 1) == NULL && count == 0, "no count");
    need_error(&message, CAMKES_MESSAGE_TOO_SHORT, 8, "a count goes on after the end");
    count = 7;
    need(camkes_get_array(&message, &count, 1) == NULL && count == 0, "an array after an error");
    message = received("abc", 4);
    need(camkes_get_strings(&message, &count) == NULL && count == 0, "strings without a count");

    static const size_t MANY[] = {17, 24, 31, SIZE_MAX};
    for (unsigned i = 0; i < 4; i++) {
        message = counted(MANY[i]);
        count = 7;
        need(camkes_get_array(&message, &count, 1) == NULL && count == 0, "too many bytes");
        need_error(&message, CAMKES_MESSAGE_ARRAY, 25, "how many bytes there are");
        message = counted(MANY[i]);
        count = 7;
        need(camkes_view_array(&message, &scratch, &count, 1) == NULL && count == 0, "a view");
        message = counted(MANY[i]);
        need(camkes_get_strings(&message, &count) == NULL && count == 0, "too many strings");
        need_error(&message, CAMKES_MESSAGE_ARRAY, 25, "how many bytes there are for strings");
    }
    message = counted(SIZE_MAX / 4 + 2);
    need(camkes_get_array(&message, &count, 4) == NULL && count == 0, "too many numbers");
    need_error(&message, CAMKES_MESSAGE_ARRAY, 25, "a size that wraps around");
    message = counted(SIZE_MAX);
    void *nothing = camkes_get_array(&message, &count, 0);
    need(nothing != NULL && count == SIZE_MAX, "elements without bytes");
    free(nothing);
    message = counted(16);
    void *bytes = camkes_get_array(&message, &count, 1);
    need(bytes != NULL && count == 16 && message.at == 24, "as many as there are");
    free(bytes);

    size_t two[2] = {2, 0};
    memcpy(&two[1], "one\0next", 8);
    message = received(two, sizeof two);
    need(camkes_get_strings(&message, &count) == NULL && count == 0, "the second has no end");
    need_error(&message, CAMKES_MESSAGE_STRING, 17, "the error of the second");
    camkes_free_strings(NULL, 2);
}

/* Whose memory an inout array has after the reply: the old one's where the new one fits. */
static void arrays_in_place_of_others(void)
{
    unsigned char *const old = malloc(5);
    size_t count = 5;
    struct camkes_message message = counted(4);
    need(camkes_replace_array(&message, old, &count, 1) == old && count == 4, "a shorter one");
    need(memcmp(old, message.start + sizeof count, 4) == 0, "its elements");
    message = counted(4);
    need(camkes_replace_array(&message, old, &count, 1) == old && count == 4, "one as long");
    message = counted(6);
    unsigned char *const longer = camkes_replace_array(&message, old, &count, 1);
    need(longer != NULL && count == 6, "a longer one, and the old one is freed");
    need(memcmp(longer, message.start + sizeof count, 6) == 0, "its elements");
    message = counted(99);
    need(camkes_replace_array(&message, longer, &count, 1) == NULL && count == 0, "none");
    need_error(&message, CAMKES_MESSAGE_ARRAY, 25, "and the old one is freed");
    message = counted(0);
    void *const empty = camkes_replace_array(&message, NULL, &count, 1);
    need(empty != NULL && count == 0, "in place of nothing");
    free(empty);
}

static void memory_that_is_used_up(void)
{
    size_t count = 7;
    left = 0;
    struct camkes_message message = received("abc", 4);
    need(camkes_get_string(&message) == NULL, "a string without memory");
    need_error(&message, CAMKES_MESSAGE_NO_MEMORY, 4, "its size");
    message = counted(3);
    need(camkes_get_array(&message, &count, 2) == NULL && count == 0, "an array without memory");
    need_error(&message, CAMKES_MESSAGE_NO_MEMORY, 6, "its size");
    message = counted(3);
    count = 0;
    need(camkes_replace_array(&message, NULL, &count, 2) == NULL && count == 0, "no memory");
    message = counted(3);
    need(camkes_get_strings(&message, &count) == NULL && count == 0, "strings without memory");
    need_error(&message, CAMKES_MESSAGE_NO_MEMORY, 3 * sizeof(char *), "the size of the array");
    for (unsigned some = 1; some < 4; some++) {
        left = some;
        message = counted(3);
        need(camkes_get_strings(&message, &count) == NULL && count == 0, "strings without more");
    }
    left = 99;
}

static void the_scratch_buffer(void)
{
    static unsigned char memory[2 * sizeof(struct camkes_scratch)];
    struct camkes_scratch scratch = {.used = 0};
    const size_t all = sizeof scratch.bytes, align = _Alignof(max_align_t);
    for (size_t used = 0; used < 2 * align; used++) {
        for (size_t more = 0; more < 2; more++) {
            const size_t start = (used + align - 1) / align * align;
            size_t count = all - start + more;
            memcpy(memory, &count, sizeof count);
            struct camkes_message message = camkes_message_at(memory, sizeof memory);
            scratch.used = used;
            const unsigned char *got = camkes_view_array(&message, &scratch, &count, 1);
            need(got == (more == 0 ? scratch.bytes + start : NULL), "where an array is");
            need(scratch.used == (more == 0 ? all : used), "what is used");
            if (more > 0) {
                need_error(&message, CAMKES_MESSAGE_NO_SPACE, all + 1, "what it would need");
            }
        }
    }
}

static void values_of_known_sizes(void)
{
    struct camkes_registers registers = {{1, 2, 3, 4}};
    const struct camkes_layout words = camkes_layout(5, 4), bytes = camkes_layout(33, 5);
    need(words.bytes == 32 && words.unit == 8 && bytes.bytes == 33 && bytes.unit == 1, "layouts");
    struct camkes_message message = camkes_message_new(&registers, words.unit);
    need(registers.word[0] == 0 && registers.word[3] == 0, "registers that are not written");
    const uint8_t byte = 0xab;
    camkes_put_scalar(&message, &byte, 1, true, 0xab);
    camkes_put_scalar(&message, &byte, 1, false, 0x77);
    const uint64_t word = 0x1234;
    camkes_put_scalar(&message, &word, 8, true, 0x77);
    need(registers.word[0] == 0xab && (registers.word[1] & 0xff) == 0xab &&
             registers.word[2] == 0x1234 && message.at == 24,
         "values in registers");
    need(camkes_message_words(&message) == 3, "its words");
    camkes_put(&message, &word, 0);
    camkes_put(&message, &word, 8);
    need(message.at == 32, "no bytes take no room");
    camkes_put(&message, &word, 0);
    need(message.error == CAMKES_MESSAGE_GOOD, "which a full message has");
    camkes_put(&message, &word, 1);
    need_error(&message, CAMKES_MESSAGE_NO_SPACE, 33, "one byte more");

    message = camkes_message_fixed(&registers, words);
    need(message.start == (unsigned char *)&registers && message.end == 32 && message.unit == 8 &&
             message.error == CAMKES_MESSAGE_GOOD,
         "a message in registers");
    uint8_t small = 0;
    uint64_t large = 0;
    camkes_take(&message, &small, 1);
    camkes_take(&message, &small, 1);
    camkes_take(&message, &large, 8);
    need(small == 0xab && large == 0x1234 && message.at == 24, "values out of registers");
    message = camkes_message_fixed(NULL, bytes);
    need(message.start == camkes_message_registers() && message.end == 40 && message.unit == 1,
         "a longer one");
    for (unsigned length = 3; length < 6; length++) {
        message = camkes_message_request(&registers, words, length);
        need_error(&message,
                   length == 4  ? (unsigned)CAMKES_MESSAGE_GOOD
                   : length < 4 ? CAMKES_MESSAGE_TOO_SHORT
                                : CAMKES_MESSAGE_TOO_LONG,
                   length == 4 ? 0 : 32, "a request of another length");
        need(message.end == 8 * length, "its end");
    }
}

static void the_end_of_a_request(void)
{
    for (size_t more = 0; more < 10; more++) {
        struct camkes_message message = camkes_message_at(&buffer, 16 + more);
        message.at = 16;
        camkes_message_end(&message);
        need(message.error == (more < 8 ? CAMKES_MESSAGE_GOOD : CAMKES_MESSAGE_TOO_LONG), "end");
        message.error = CAMKES_MESSAGE_ARRAY;
        camkes_message_end(&message);
        need(message.error == CAMKES_MESSAGE_ARRAY, "an error stays");
    }
}

static void replies(void)
{
    const struct camkes_layout two = camkes_layout(16, 2);
    need(camkes_reply_good(seL4_MessageInfo_new(0, 0, 0, 2), two), "a good reply");
    need(!camkes_reply_good(seL4_MessageInfo_new(0, 0, 0, 3), two) &&
             !camkes_reply_good(seL4_MessageInfo_new(1, 0, 0, 2), two),
         "others");
    const seL4_MessageInfo_t refusal = seL4_MessageInfo_new(CAMKES_MESSAGE_STRING, 0, 0, 2);
    struct camkes_message message = camkes_message_reply(refusal);
    need(message.refused && message.error == CAMKES_MESSAGE_STRING && message.unit == 1 &&
             message.end == 16 && message.start == camkes_message_registers(),
         "a refusal");
    message = camkes_message_reply(seL4_MessageInfo_new(0, 0, 0, 3));
    need(!message.refused && message.error == CAMKES_MESSAGE_GOOD && message.end == 24, "a reply");
    message = camkes_message_received(3);
    need(message.end == 24 && message.unit == 1, "a request");
    message.at = 17;
    need(camkes_message_info(&message).words[0] == seL4_MessageInfo_new(0, 0, 0, 3).words[0],
         "the reply that was written");
    need(camkes_message_none().words[0] ==
             seL4_MessageInfo_new(CAMKES_MESSAGE_REPLY, 0, 0, 0).words[0],
         "that there is none");
}

int main(void)
{
    what_does_not_fit();
    what_is_not_there();
    arrays_that_handlers_give();
    arrays_in_place_of_others();
    memory_that_is_used_up();
    the_scratch_buffer();
    values_of_known_sizes();
    the_end_of_a_request();
    replies();
    printf("good\n");
    return 0;
}
