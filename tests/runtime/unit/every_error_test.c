/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: RT-33 */
/* A build that sets one action for all errors: no handler is called. */
#include <camkes/error.h>

#define CAMKES_EVERY_ERROR CEA_IGNORE
#include "../../../runtime/src/core/error.c"

#include <stdlib.h>

static seL4_IPCBuffer buffer;

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

void camkes_platform_write(const char *text, size_t length)
{
    (void)length;
    need(false, text);
}

void camkes_platform_fault(void)
{
    need(false, "the thread stops");
    abort();
}

void camkes_platform_halt(void)
{
    need(false, "the system stops");
    abort();
}

static camkes_error_action_t handler(camkes_error_t *error)
{
    need(error == NULL, "a handler is called");
    return CEA_DISCARD;
}

int main(void)
{
    camkes_error_t error = {.type = CE_OVERFLOW, .instance = "a", .description = "what"};
    (void)camkes_register_error_handler(handler);
    need(camkes_error(&error) == CEA_IGNORE, "an error");
    need(camkes_handle_error(handler, &error) == CEA_IGNORE, "one of an interface");
    need(camkes_received_error(handler, &error) == CEA_DISCARD, "one of a message");
    printf("good\n");
    return 0;
}
