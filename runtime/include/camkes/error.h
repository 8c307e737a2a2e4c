/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Errors of the generated code at run time, and what a component may do about them. */
#pragma once

#if defined(__has_include_next)
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
    CE_BUFFER_LENGTH_EXCEEDED, /* a message has no room for its parameters */
    CE_INVALID_METHOD_INDEX,
    CE_MALFORMED_RPC_PAYLOAD, /* a message is shorter than its parameters */
    CE_SYSCALL_FAILED,
    CE_ALLOCATION_FAILURE,
    CE_OVERFLOW,
} camkes_error_type_t;

typedef struct {
    camkes_error_type_t type; /* says which of the structs below counts */
    const char *instance;
    const char *interface; /* NULL: none in particular */
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
    CEA_DISCARD, /* give up this call: a client gets zeros, a server answers nothing */
    CEA_IGNORE,  /* go on with what there is */
    CEA_ABORT,   /* the thread faults; this is the default */
    CEA_HALT,    /* the system stops */
} camkes_error_action_t;

typedef camkes_error_action_t (*camkes_error_handler_t)(camkes_error_t *);

#ifdef __cplusplus
extern "C" {
#endif

/* For errors of interfaces without a handler of their own; returns the handler before. */
camkes_error_handler_t camkes_register_error_handler(camkes_error_handler_t handler);

/* Lets that handler decide; returns CEA_DISCARD or CEA_IGNORE or not at all. */
camkes_error_action_t camkes_error(camkes_error_t *error);

#ifdef __cplusplus
}
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* camkes_error(), where `handler` (NULL: none) is asked first. */
camkes_error_action_t camkes_handle_error(camkes_error_handler_t handler, camkes_error_t *error);

/*
 * The same for an error of a message that was received, which is its sender's: without a handler it
 * is CEA_DISCARD.
 */
camkes_error_action_t camkes_received_error(camkes_error_handler_t handler, camkes_error_t *error);

/* Prints a line; what has no room in 255 bytes is cut off. */
void camkes_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Says what is wrong and makes the running thread fault. */
void camkes_fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

#ifdef __cplusplus
}
#endif
