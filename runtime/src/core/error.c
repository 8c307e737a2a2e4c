/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Errors on their way to the handler of a component, or to its output where there is none. */
#include <camkes/error.h>
#include <camkes/instance.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static camkes_error_handler_t component_handler;

camkes_error_handler_t camkes_register_error_handler(camkes_error_handler_t handler)
{
    const camkes_error_handler_t before = component_handler;
    component_handler = handler;
    return before;
}

/* A text that is built piece by piece and truncated at the end of its buffer, before a newline. */
struct text {
    char bytes[256];
    size_t length;
};

static void append_list(struct text *text, const char *format, va_list args)
{
    const size_t left = sizeof text->bytes - 1 - text->length;
    const int wanted = vsnprintf(text->bytes + text->length, left, format, args);
    if (wanted > 0) {
        text->length += (size_t)wanted < left ? (size_t)wanted : left - 1;
    }
}

static void __attribute__((format(printf, 2, 3))) append(struct text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    append_list(text, format, args);
    va_end(args);
}

static void print_line(struct text *text)
{
    text->bytes[text->length++] = '\n';
    camkes_platform_write(text->bytes, text->length);
}

void camkes_print(const char *format, ...)
{
    struct text text = {.length = 0};
    va_list args;
    va_start(args, format);
    append_list(&text, format, args);
    va_end(args);
    print_line(&text);
}

static void describe(const camkes_error_t *error)
{
    struct text text = {.length = 0};
    append(&text, "camkes: %s%s%s: %s", error->instance, error->interface != NULL ? "." : "",
           error->interface != NULL ? error->interface : "", error->description);
    if (error->type == CE_BUFFER_LENGTH_EXCEEDED) {
        append(&text, ": needs %u bytes, there are %u", error->target_length,
               error->current_length);
    } else if (error->type == CE_MALFORMED_RPC_PAYLOAD && error->length > 0) {
        append(&text, ": ends after %u bytes, at byte %u", error->length, error->current_index);
    }
    print_line(&text);
}

/* If the build sets one action for all errors, no handler is called. */
#if !defined(CAMKES_EVERY_ERROR)
#define CAMKES_EVERY_ERROR CEA_INVALID
#endif
static const camkes_error_action_t every_error = CAMKES_EVERY_ERROR;

static camkes_error_action_t decide(camkes_error_handler_t handler, camkes_error_t *error)
{
    if (every_error != CEA_INVALID) {
        return every_error;
    }
    return handler != NULL ? handler(error) : CEA_ABORT;
}

camkes_error_action_t camkes_error(camkes_error_t *error)
{
    return camkes_handle_error(NULL, error);
}

camkes_error_action_t camkes_handle_error(camkes_error_handler_t handler, camkes_error_t *error)
{
    handler = handler != NULL ? handler : component_handler;
    const camkes_error_action_t action = decide(handler, error);
    if (action == CEA_DISCARD || action == CEA_IGNORE) {
        return action;
    }
    describe(error);
    if (action == CEA_HALT) {
        camkes_platform_halt();
    }
    camkes_platform_fault();
}

camkes_error_action_t camkes_received_error(camkes_error_handler_t handler, camkes_error_t *error)
{
    const bool registered = handler != NULL || component_handler != NULL;
    return registered && every_error == CEA_INVALID ? camkes_handle_error(handler, error)
                                                    : CEA_DISCARD;
}

void camkes_assertion_failed(const char *file, int line, const char *condition)
{
    const char *const folder = strrchr(file, '/');
    camkes_fail("thread %s: %s:%d: assertion failed: %s", camkes_self()->name,
                folder != NULL ? folder + 1 : file, line, condition);
}

void camkes_fail(const char *format, ...)
{
    struct text text = {.length = 0};
    const struct camkes_thread *const self = camkes_self();
    append(&text, "camkes: %s: ", self != NULL ? self->instance->name : "before the first thread");
    va_list args;
    va_start(args, format);
    append_list(&text, format, args);
    va_end(args);
    print_line(&text);
    camkes_platform_fault();
}
