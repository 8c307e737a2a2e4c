/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Malformed messages: reports to error handlers, and replies to the sender. */
#include <camkes/cpi.h>
#include <stdatomic.h>
#include <stdio.h>

static camkes_error_type_t type_of(unsigned error)
{
    switch (error) {
#define TYPE(name, number, type, text)                                                             \
    case CAMKES_MESSAGE_##name:                                                                    \
        return type;
        CAMKES_MESSAGE_ERRORS(TYPE)
#undef TYPE
    default:
        return CE_MALFORMED_RPC_PAYLOAD;
    }
}

static const char *words_of(unsigned error)
{
    /* not covered: an error of space has lengths in place of words */
    switch (error) {
#define WORDS(name, number, type, text)                                                            \
    case CAMKES_MESSAGE_##name:                                                                    \
        return text;
        CAMKES_MESSAGE_ERRORS(WORDS)
#undef WORDS
    default:
        return "for a reason that is not known";
    }
}

/* The error as it is passed to handlers; `text` is the buffer for its description. */
static camkes_error_t error_of(const struct camkes_message *message,
                               const struct camkes_place *place, const char *method, char text[160])
{
    const char *refused = message->refused ? " refused by " : "";
    const char *server = message->refused && place->server != NULL ? place->server : "";
    const char *words = message->error == CAMKES_MESSAGE_NO_SPACE ? NULL : words_of(message->error);
    (void)snprintf(text, 160, "message of %.40s()%s%.40s%s%s", method, refused, server,
                   words != NULL ? ": " : "", words != NULL ? words : "");
    camkes_error_t error = {
        .type = type_of(message->error),
        .instance = place->instance,
        .interface = place->interface,
        .description = text,
    };
    switch (error.type) {
    case CE_BUFFER_LENGTH_EXCEEDED:
        error.current_length = (unsigned)message->end;
        error.target_length = (unsigned)message->wanted;
        break;
    case CE_MALFORMED_RPC_PAYLOAD:
        error.length = message->refused ? 0 : (unsigned)message->end;
        error.current_index = message->refused ? 0 : (unsigned)message->at;
        break;
    case CE_ALLOCATION_FAILURE:
        error.alloc_bytes = message->wanted;
        break;
    case CE_NO_ERROR:
    case CE_INVALID_METHOD_INDEX:
    case CE_SYSCALL_FAILED:
    case CE_OVERFLOW:
        break;
    }
    return error;
}

bool camkes_message_report(const struct camkes_message *message, const struct camkes_place *place,
                           const char *method)
{
    char text[160];
    camkes_error_t error = error_of(message, place, method, text);
    return camkes_handle_error(*place->handler, &error) == CEA_IGNORE;
}

bool camkes_message_ignored(const struct camkes_message *message, const struct camkes_place *place,
                            const char *method)
{
    char text[160];
    camkes_error_t error = error_of(message, place, method, text);
    return camkes_received_error(*place->handler, &error) == CEA_IGNORE;
}

/* That a request was aborted is not a mistake of the caller: by default it goes on. */
void camkes_reply_report(const struct camkes_message *message, const struct camkes_place *place,
                         const char *method)
{
    if (message->refused && message->error == CAMKES_MESSAGE_ABORTED) {
        camkes_request_was_aborted();
        (void)camkes_message_ignored(message, place, method);
    } else {
        (void)camkes_message_report(message, place, method);
    }
}

seL4_Word camkes_reply_failed(const struct camkes_place *place, seL4_MessageInfo_t info,
                              size_t bytes, const char *method)
{
    const seL4_Word label = seL4_MessageInfo_get_label(info);
    const size_t length = seL4_MessageInfo_get_length(info) * sizeof(seL4_Word);
    const unsigned wrong = length < bytes ? CAMKES_MESSAGE_TOO_SHORT : CAMKES_MESSAGE_TOO_LONG;
    const struct camkes_message message = {
        .end = length,
        .error = label != 0 ? (unsigned)label : wrong,
        .refused = label != 0,
        .wanted = bytes,
    };
    camkes_reply_report(&message, place, method);
    return 0;
}

seL4_MessageInfo_t camkes_message_no_method(const struct camkes_thread *self,
                                            const struct camkes_place *place, unsigned wrong,
                                            uint64_t index, uint64_t methods)
{
    const bool read = wrong == CAMKES_MESSAGE_GOOD;
    camkes_error_t error = {
        .type = read ? CE_INVALID_METHOD_INDEX : type_of(wrong),
        .instance = place->instance,
        .interface = place->interface,
        .description = "a request for a method that does not exist",
    };
    if (read) {
        error.upper_bound = methods;
        error.invalid_index = index;
    }
    (void)camkes_received_error(*place->handler, &error);
    return camkes_refuse(place, self->badge, camkes_sender_id(self),
                         read ? (unsigned)CAMKES_MESSAGE_METHOD : wrong);
}

static struct camkes_sender *find_sender(const struct camkes_place *place, seL4_Word id)
{
    for (unsigned i = 0; i < place->senders; i++) {
        if (place->sender[i].id == id) {
            return &place->sender[i];
        }
    }
    return NULL;
}

/* Prints one line per client, for kernels that record no trace. */
static void print_refusal(const struct camkes_place *place, struct camkes_sender *sender,
                          seL4_Word id, unsigned error)
{
    char number[24];
    (void)snprintf(number, sizeof number, "badge %lu", (unsigned long)id);
    if (sender == NULL || !sender->reported) {
        camkes_print("camkes: %.60s.%.60s refused a message of %.80s: %s", place->instance,
                     place->interface, sender != NULL ? sender->name : number, words_of(error));
    }
    if (sender != NULL) {
        sender->reported = true;
    }
}

seL4_MessageInfo_t camkes_refuse(const struct camkes_place *place, seL4_Word badge,
                                 seL4_Word sender, unsigned error)
{
    CAMKES_TRACE(REFUSED, badge, error);
    if (!CAMKES_KERNEL_HOST) {
        print_refusal(place, find_sender(place, sender), sender, error);
    }
    return seL4_MessageInfo_new(error, 0, 0, 0);
}

seL4_MessageInfo_t camkes_refuse_order(const struct camkes_thread *self, seL4_Word badge,
                                       unsigned error)
{
    enum { ENOUGH = 8 };
    static _Atomic unsigned printed;
    CAMKES_TRACE(REFUSED, badge, error);
    if (!CAMKES_KERNEL_HOST && atomic_load(&printed) < ENOUGH) {
        atomic_fetch_add(&printed, 1);
        camkes_print("camkes: %.80s refused a message of badge %lu: %s", self->name,
                     (unsigned long)badge, words_of(error));
    }
    return seL4_MessageInfo_new(error, 0, 0, 0);
}
