/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Errors of messages. The number is the label of the reply with which a server
 * refuses it, and an argument of the trace record REFUSED; camkes/running/refusals.py has the same
 * list (a test compares the two).
 */
#pragma once

/* clang-format off */
/* X(NAME, number, camkes_error_type_t, "what is wrong") */
#define CAMKES_MESSAGE_ERRORS(X)                                                                      \
    X(NO_SPACE, 1, CE_BUFFER_LENGTH_EXCEEDED, "its parameters do not fit")                             \
    X(MISSING, 2, CE_ALLOCATION_FAILURE, "a string or an array is NULL")                              \
    X(NO_MEMORY, 3, CE_ALLOCATION_FAILURE, "the server is out of memory")                             \
    X(METHOD, 4, CE_INVALID_METHOD_INDEX, "there is no such method")                                  \
    X(TOO_SHORT, 5, CE_MALFORMED_RPC_PAYLOAD, "it is shorter than its parameters")                    \
    X(TOO_LONG, 6, CE_MALFORMED_RPC_PAYLOAD, "it is longer than its parameters")                      \
    X(STRING, 7, CE_MALFORMED_RPC_PAYLOAD, "a string has no final 0")                                 \
    X(ARRAY, 8, CE_MALFORMED_RPC_PAYLOAD, "an array has more elements than the message")              \
    X(LABEL, 9, CE_MALFORMED_RPC_PAYLOAD, "its label is not that of a request")                       \
    X(PRIORITY, 10, CE_MALFORMED_RPC_PAYLOAD, "its priority is not valid for its sender")             \
    X(TASK, 11, CE_MALFORMED_RPC_PAYLOAD, "its task is not valid for its sender")                     \
    X(BADGE, 12, CE_MALFORMED_RPC_PAYLOAD, "its badge is not that of a caller")                       \
    X(BUSY, 13, CE_MALFORMED_RPC_PAYLOAD, "an earlier request of its sender has not ended")           \
    X(OPERATION, 14, CE_MALFORMED_RPC_PAYLOAD, "its sender may not use this operation of the manager") \
    X(REPLY, 15, CE_MALFORMED_RPC_PAYLOAD, "the server failed to reply")                               \
    X(ABORTED, 16, CE_REQUEST_ABORTED, "its budget was used up")                                       \
    X(SENT, 17, CE_MALFORMED_RPC_PAYLOAD, "it was sent, not called")                                   \
    X(NO_SIZE, 18, CE_MALFORMED_RPC_PAYLOAD, "the handler set an array, but not its size, *NAME_sz")
/* clang-format on */

#define CAMKES_MESSAGE_ENUM(name, number, type, text) CAMKES_MESSAGE_##name = (number),
enum camkes_message_error { CAMKES_MESSAGE_GOOD = 0, CAMKES_MESSAGE_ERRORS(CAMKES_MESSAGE_ENUM) };
#undef CAMKES_MESSAGE_ENUM
