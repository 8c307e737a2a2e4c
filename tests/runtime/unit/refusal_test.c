/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: RT-2 */
/* What handlers learn of errors of messages, what a sender gets, and what is printed where no trace
 * is recorded: message_error.c as on seL4. */
#include <camkes/cpi.h>
#include <camkes/message.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#undef CAMKES_KERNEL_HOST
#define CAMKES_KERNEL_HOST 0
#include "../../../runtime/src/core/message_error.c"

static void need(bool good, const char *what)
{
    if (!good) {
        printf("%s\n", what);
        exit(1);
    }
}

static char printed[256];
static uint64_t refused[2];
static camkes_error_t last;
static char described[160];
static enum { NOBODY, ANY, OF_REQUESTS } told;
static camkes_error_action_t action = CEA_DISCARD;
#if CAMKES_MCS
static struct camkes_thread running;
static seL4_IPCBuffer buffer;

seL4_IPCBuffer *seL4_GetIPCBuffer(void)
{
    return &buffer;
}
#endif

void camkes_print(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(printed, sizeof printed, format, args);
    va_end(args);
}

void camkes_host_annotate(uint16_t kind, uint16_t other, unsigned n, const uint64_t *args)
{
    need(kind == CAMKES_TRACE_REFUSED && other == CAMKES_TRACE_NO_NUMBER && n == 2, "the record");
    memcpy(refused, args, sizeof refused);
}

static camkes_error_action_t handler(camkes_error_t *error)
{
    (void)error;
    return CEA_HALT;
}

static camkes_error_action_t note(camkes_error_handler_t to, const camkes_error_t *error)
{
    need(to == handler, "another handler");
    last = *error;
    (void)snprintf(described, sizeof described, "%s", error->description);
    return action;
}

camkes_error_action_t camkes_handle_error(camkes_error_handler_t to, camkes_error_t *error)
{
    told = ANY;
    return note(to, error);
}

camkes_error_action_t camkes_received_error(camkes_error_handler_t to, camkes_error_t *error)
{
    told = OF_REQUESTS;
    return note(to, error);
}

static camkes_error_handler_t handlers[1] = {handler};
static struct camkes_sender senders[2] = {{.id = 4, .name = "four.f"}, {.id = 9, .name = "nine.n"}};
static const struct camkes_place place = {.instance = "instance",
                                          .interface = "interface",
                                          .handler = handlers,
                                          .server = "server.s",
                                          .sender = senders,
                                          .senders = 2};

static void need_description(const char *text)
{
    if (strcmp(described, text) != 0) {
        printf("%s\ninstead of\n%s\n", described, text);
        exit(1);
    }
    need(strcmp(last.instance, "instance") == 0 && strcmp(last.interface, "interface") == 0,
         "the interface");
}

static void refuse(seL4_Word sender, const char *line)
{
    printed[0] = 0;
    const seL4_MessageInfo_t reply = camkes_refuse(&place, 77, sender, CAMKES_MESSAGE_BADGE);
    need(reply.words[0] == seL4_MessageInfo_new(CAMKES_MESSAGE_BADGE, 0, 0, 0).words[0], "reply");
    need(refused[0] == 77 && refused[1] == CAMKES_MESSAGE_BADGE, "badge and error of the record");
    need(strcmp(printed, line) == 0, "the line");
}

/* One line for each sender that is known, and for each message of others. */
static void what_is_printed(void)
{
    static const char WHO[] = "camkes: instance.interface refused a message of %s: "
                              "its badge is not that of a caller";
    char line[256];
    for (int again = 0; again < 2; again++) {
        (void)snprintf(line, sizeof line, WHO, "nine.n");
        refuse(9, again ? "" : line);
        (void)snprintf(line, sizeof line, WHO, "badge 10");
        refuse(10, line);
        need(!senders[0].reported && senders[1].reported, "who was reported");
    }
    (void)snprintf(line, sizeof line, WHO, "four.f");
    refuse(4, line);
}

static void reply(seL4_Word label, unsigned words, size_t bytes)
{
    told = NOBODY;
    need(camkes_reply_failed(&place, seL4_MessageInfo_new(label, 0, 0, words), bytes, "method") ==
             0,
         "the result");
}

static void failed_replies(void)
{
    reply(0, 2, 17);
    need(told == ANY && last.type == CE_MALFORMED_RPC_PAYLOAD && last.length == 16 &&
             last.current_index == 0,
         "a reply that is too short");
    need_description("message of method(): it is shorter than its parameters");
    reply(0, 2, 16);
    need_description("message of method(): it is longer than its parameters");
    reply(CAMKES_MESSAGE_STRING, 2, 17);
    need(told == ANY && last.type == CE_MALFORMED_RPC_PAYLOAD && last.length == 0, "refused");
    need_description("message of method() refused by server.s: a string has no final 0");
    reply(CAMKES_MESSAGE_NO_SPACE, 2, 17);
    need(last.type == CE_BUFFER_LENGTH_EXCEEDED && last.current_length == 16 &&
             last.target_length == 17,
         "parameters that do not fit");
    need_description("message of method() refused by server.s");
    reply(999, 2, 17);
    need(last.type == CE_MALFORMED_RPC_PAYLOAD, "an error that is not known");
    need_description("message of method() refused by server.s: for a reason that is not known");
    reply(CAMKES_MESSAGE_ABORTED, 2, 17);
    need(told == OF_REQUESTS && last.type == CE_REQUEST_ABORTED, "aborted");
    need_description("message of method() refused by server.s: its budget was used up");
#if CAMKES_MCS
    need(running.aborted, "the thread cannot find out that it was aborted");
#endif
}

/* The type and the description of each error, as the table of errors has them. */
static void every_error(void)
{
#define ERROR(name, number, of_type, text)                                                         \
    reply(CAMKES_MESSAGE_##name, 2, 17);                                                           \
    need(last.type == of_type, "the type of " #name);                                              \
    need(CAMKES_MESSAGE_##name == CAMKES_MESSAGE_NO_SPACE || strstr(described, ": " text) != NULL, \
         "the description of " #name);
    CAMKES_MESSAGE_ERRORS(ERROR)
#undef ERROR
}

/* Of messages that were not refused there is no server, but a place. */
static void own_errors(void)
{
    struct camkes_message message = {.at = 5, .end = 7, .error = CAMKES_MESSAGE_ABORTED};
    camkes_reply_report(&message, &place, "m");
    need(told == ANY, "only a server aborts");
    message.error = CAMKES_MESSAGE_ARRAY;
    message.refused = true;
    struct camkes_place client = place;
    client.server = NULL;
    camkes_reply_report(&message, &client, "m");
    need_description("message of m() refused by : an array has more elements than the message");
    need(last.length == 0 && last.current_index == 0, "a place in a refused message");
    message.refused = false;
    for (action = CEA_DISCARD; action <= CEA_IGNORE; action++) {
        need(camkes_message_report(&message, &client, "m") == (action == CEA_IGNORE), "report");
        need(told == ANY && last.length == 7 && last.current_index == 5, "a place in a message");
        need(camkes_message_ignored(&message, &client, "m") == (action == CEA_IGNORE), "ignored");
        need(told == OF_REQUESTS && last.length == 7, "an error of the sender");
    }
}

/* Whether to go on, where a message is good and where it is not; what is asked only then. */
static void whether_to_go_on(void)
{
    struct camkes_message message = {.at = 5, .end = 7, .wanted = 9, .refused = true};
    told = NOBODY;
    need(camkes_message_good(&message, &place, "m") && camkes_reply_read(&message, &place, "m") &&
             camkes_message_accepted(&message, &place, "m") && told == NOBODY,
         "a good message");
    message.error = CAMKES_MESSAGE_NO_SPACE;
    action = CEA_IGNORE;
    need(camkes_message_good(&message, &place, "m") && told == ANY, "one of this side");
    need(last.current_length == 7 && last.target_length == 9, "its lengths");
    need_description("message of m() refused by server.s");
    last.target_length = 0;
    need(camkes_message_accepted(&message, &place, "m") && told == OF_REQUESTS, "one of a sender");
    need(last.current_length == 7 && last.target_length == 9, "its lengths, too");
    need(!camkes_reply_read(&message, &place, "m") && told == ANY, "a reply");
    message.error = CAMKES_MESSAGE_STRING;
    message.refused = false;
    need(!camkes_reply_read(&message, &place, "m") && last.length == 7 && last.current_index == 5,
         "where a reply is wrong");
    action = CEA_DISCARD;
    need(!camkes_message_good(&message, &place, "m") &&
             !camkes_message_accepted(&message, &place, "m"),
         "messages that are discarded");
}

static void methods_that_do_not_exist(void)
{
    struct camkes_thread self = {.badge = 12};
    (void)camkes_message_no_method(&self, &place, CAMKES_MESSAGE_GOOD, 6, 4);
    need(strstr(printed, "badge 12") != NULL, "the sender");
    self.badge = 9;
    const seL4_MessageInfo_t no =
        camkes_message_no_method(&self, &place, CAMKES_MESSAGE_GOOD, 6, 4);
    need(seL4_MessageInfo_get_label(no) == CAMKES_MESSAGE_METHOD && refused[0] == 9 &&
             told == OF_REQUESTS && last.type == CE_INVALID_METHOD_INDEX && last.upper_bound == 4 &&
             last.invalid_index == 6,
         "the index of a method");
    need(strcmp(last.description, "a request for a method that does not exist") == 0, "the text");
}

/* What a server learns of its sender: by the table of callers, else the badge. */
static void senders_of_requests(void)
{
    static const struct camkes_caller callers[2] = {{.sender_id = 30, .context = 1},
                                                    {.sender_id = 31, .context = 0}};
    struct camkes_context contexts[2] = {{.id = 0}};
    struct camkes_cpi cpi = {.caller = callers, .callers = 2, .context = contexts};
    struct camkes_thread self = {.cpi = &cpi};
    for (self.badge = 0; self.badge < 4; self.badge++) {
        const bool known = self.badge == 1 || self.badge == 2;
        need(camkes_sender_id(&self) == (known ? 29 + self.badge : self.badge), "the sender");
        need(!known || camkes_sender_context(&self) == &contexts[2 - self.badge], "its context");
    }
    self = (struct camkes_thread){.badge = 5};
    need(camkes_sender_id(&self) == 5, "the sender of an interface without a protocol");
}

/* A manager of a group prints the first few, and records all. */
static void orders(void)
{
    const struct camkes_thread self = {.name = "g.e!manager"};
    for (unsigned i = 0; i < 20; i++) {
        printed[0] = 0;
        const seL4_MessageInfo_t reply = camkes_refuse_order(&self, 3 + i, 14);
        need(seL4_MessageInfo_get_label(reply) == 14 && seL4_MessageInfo_get_length(reply) == 0,
             "the reply");
        need(refused[0] == 3 + i && refused[1] == 14, "what is recorded");
        need((printed[0] != 0) == (i < 8), "what is printed");
        need(i > 0 ||
                 strcmp(printed, "camkes: g.e!manager refused a message of badge 3: its sender "
                                 "may not use this operation of the manager") == 0,
             "the line");
    }
}

int main(void)
{
#if CAMKES_MCS
    camkes_set_self(&running);
#endif
    orders();
    senders_of_requests();
    what_is_printed();
    failed_replies();
    every_error();
    own_errors();
    whether_to_go_on();
    methods_that_do_not_exist();
    printf("good\n");
    return 0;
}
