/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Errors of the generated code at run time, and actions of a component on them. */
#pragma once

#if defined(__has_include_next) && !defined(CAMKES_KERNEL_HOST)
#if __has_include_next(<camkes/error.h>)
#define CAMKES_ERROR_OF_LIBRARY 1
#endif
#endif

#ifdef CAMKES_ERROR_OF_LIBRARY
/* libsel4camkes declares the same, and macros for templates */
#include_next <camkes/error.h>
#else
#include <stddef.h>
#include <stdint.h>

typedef enum {
    CE_NO_ERROR,
    CE_BUFFER_LENGTH_EXCEEDED, /* the parameters do not fit the message buffer */
    CE_INVALID_METHOD_INDEX,
    CE_MALFORMED_RPC_PAYLOAD, /* a message is shorter than its parameters */
    CE_SYSCALL_FAILED,
    CE_ALLOCATION_FAILURE,
    CE_OVERFLOW,
} camkes_error_type_t;

typedef struct {
    camkes_error_type_t type; /* selects the member of the union */
    const char *instance;
    const char *interface; /* NULL: the error concerns no interface */
    const char *filename;
    long lineno;
    const char *description;
    union {
        struct { /* CE_BUFFER_LENGTH_EXCEEDED */
            unsigned current_length;
            unsigned target_length;
        };
        struct { /* CE_INVALID_METHOD_INDEX */
            uint64_t lower_bound;
            uint64_t upper_bound;
            uint64_t invalid_index;
        };
        struct { /* CE_MALFORMED_RPC_PAYLOAD */
            unsigned length;
            unsigned current_index;
        };
        struct { /* CE_SYSCALL_FAILED */
            int syscall;
            int error;
        };
        struct { /* CE_ALLOCATION_FAILURE */
            size_t alloc_bytes;
        };
    };
} camkes_error_t;

typedef enum {
    CEA_INVALID = -1,
    CEA_DISCARD, /* abandon this call: a client gets zeros, a server sends an empty reply */
    CEA_IGNORE,  /* continue with the data there is */
    CEA_ABORT,   /* the thread faults; this is the default */
    CEA_HALT,    /* the system stops */
} camkes_error_action_t;

typedef camkes_error_action_t (*camkes_error_handler_t)(camkes_error_t *);

#ifdef __cplusplus
extern "C" {
#endif

/* Sets the handler for errors of interfaces that have no handler; returns the previous one. */
camkes_error_handler_t camkes_register_error_handler(camkes_error_handler_t handler);

/* Calls that handler; returns CEA_DISCARD or CEA_IGNORE, or does not return. */
camkes_error_action_t camkes_error(camkes_error_t *error);

#ifdef __cplusplus
}
#endif

/* For templates of connectors: tells `handler` (a function like camkes_error) of an error, and does
 * `leave`, which leaves the function, if it says to abandon the call. */
#define ERR(handler, error, leave)                                                                 \
    ({                                                                                             \
        camkes_error_t camkes_found = error;                                                       \
        camkes_found.filename = __FILE__;                                                          \
        camkes_found.lineno = __LINE__;                                                            \
        const camkes_error_action_t camkes_action = handler(&camkes_found);                        \
        if (camkes_action == CEA_DISCARD) {                                                        \
            leave;                                                                                 \
        } else if (camkes_action != CEA_IGNORE) {                                                  \
            camkes_fail("%s", camkes_found.description);                                           \
        }                                                                                          \
    })

/* The same, if a condition holds. */
#define ERR_IF(condition, handler, error, leave)                                                   \
    ({                                                                                             \
        if (__builtin_expect(!!(condition), 0)) {                                                  \
            ERR(handler, error, leave);                                                            \
        }                                                                                          \
    })
#endif

/* a request was aborted, because its budget was used up */
#define CE_REQUEST_ABORTED ((camkes_error_type_t)(CE_OVERFLOW + 1))

#ifdef __cplusplus
extern "C" {
#endif

/* As camkes_error(), but calls `handler` instead unless it is NULL. */
camkes_error_action_t camkes_handle_error(camkes_error_handler_t handler, camkes_error_t *error);

/*
 * The same for an error in a received message, which the sender made: without a handler the action
 * is CEA_DISCARD.
 */
camkes_error_action_t camkes_received_error(camkes_error_handler_t handler, camkes_error_t *error);

/* Prints a line, truncated to 255 bytes. */
void camkes_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints the message and makes the running thread fault. */
void camkes_fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

#ifdef __cplusplus
}
#endif
