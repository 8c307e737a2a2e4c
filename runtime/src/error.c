/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes/error.h>
#include <camkes/instance.h>
#include <stdarg.h>
#include <stdio.h>

static camkes_error_handler_t component_handler;

camkes_error_handler_t camkes_register_error_handler(camkes_error_handler_t handler)
{
    const camkes_error_handler_t before = component_handler;
    component_handler = handler;
    return before;
}

static void say(const char *text, int length, size_t room)
{
    if (length > 0) {
        camkes_platform_write(text, (size_t)length < room ? (size_t)length : room - 1);
    }
}

static void describe(const camkes_error_t *error)
{
    char text[256];
    const char *dot = error->interface != NULL ? "." : "";
    const char *interface = error->interface != NULL ? error->interface : "";
    int length = 0;
    switch (error->type) {
    case CE_BUFFER_LENGTH_EXCEEDED:
        length = snprintf(text, sizeof text, "camkes: %s%s%s: %s: needs %u bytes, there are %u\n",
                          error->instance, dot, interface, error->description, error->target_length,
                          error->current_length);
        break;
    case CE_MALFORMED_RPC_PAYLOAD:
        length = snprintf(text, sizeof text,
                          "camkes: %s%s%s: %s: ends after %u bytes, at byte %u\n", error->instance,
                          dot, interface, error->description, error->length, error->current_index);
        break;
    default:
        length = snprintf(text, sizeof text, "camkes: %s%s%s: %s\n", error->instance, dot,
                          interface, error->description);
    }
    say(text, length, sizeof text);
}

/* Where the build says what every error leads to, nobody is asked. */
#if !defined(CAMKES_EVERY_ERROR)
#define CAMKES_EVERY_ERROR CEA_INVALID
#endif

static camkes_error_action_t decide(camkes_error_handler_t handler, camkes_error_t *error)
{
    if (CAMKES_EVERY_ERROR != CEA_INVALID) {
        return CAMKES_EVERY_ERROR;
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

void camkes_fail(const char *format, ...)
{
    char text[256];
    const struct camkes_thread *self = camkes_self();
    const int start = snprintf(text, sizeof text, "camkes: %s: ", self->instance->name);
    va_list args;
    va_start(args, format);
    const int length =
        start + vsnprintf(text + start, sizeof text - (size_t)start - 1, format, args);
    va_end(args);
    const int end = length < (int)sizeof text - 2 ? length : (int)sizeof text - 2;
    text[end] = '\n';
    say(text, end + 1, sizeof text);
    camkes_platform_fault();
}
