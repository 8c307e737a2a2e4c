/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* However long names and texts are, what is printed is one whole line of at most 256 bytes. */
#include <camkes/error.h>
#include <camkes/instance.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char printed[512];
static size_t length;
static jmp_buf faulted;
static seL4_IPCBuffer buffer;
static char name[600];
static struct camkes_instance instance = {.name = name};
static struct camkes_thread thread = {.instance = &instance};

seL4_IPCBuffer *seL4_GetIPCBuffer(void)
{
    return &buffer;
}

void camkes_platform_write(const char *text, size_t size)
{
    memcpy(printed + length, text, size);
    length += size;
    printed[length] = 0;
}

void camkes_platform_fault(void)
{
    longjmp(faulted, 1);
}

void camkes_platform_halt(void)
{
    longjmp(faulted, 2);
}

static void need(bool good, const char *what, size_t size)
{
    if (!good) {
        printf("%s, of %zu bytes: %s\n", what, size, printed);
        exit(1);
    }
}

static void check(const char *what, size_t size)
{
    need(length <= 256, what, size);
    need(length > 0 && strchr(printed, '\n') == printed + length - 1, what, size);
    length = 0;
}

static camkes_error_action_t halt(camkes_error_t *error)
{
    (void)error;
    return CEA_HALT;
}

int main(void)
{
    static const camkes_error_type_t types[] = {CE_BUFFER_LENGTH_EXCEEDED, CE_MALFORMED_RPC_PAYLOAD,
                                                CE_INVALID_METHOD_INDEX, CE_ALLOCATION_FAILURE};
    seL4_SetUserData((seL4_Word)&thread);
    for (volatile size_t size = 0; size < sizeof name; size++) {
        memset(name, 'n', size);
        name[size] = 0;
        if (setjmp(faulted) == 0) {
            camkes_fail("%s is wrong", name);
        }
        check("camkes_fail()", size);
        camkes_print("%s", name);
        check("camkes_print()", size);
        for (volatile unsigned i = 0; i < sizeof types / sizeof *types; i++) {
            camkes_error_t error = {
                .type = types[i], .instance = name, .interface = name, .description = name};
            if (types[i] == CE_MALFORMED_RPC_PAYLOAD) {
                error.length = 7;
            }
            switch (setjmp(faulted)) {
            case 0:
                (void)camkes_handle_error(halt, &error);
                need(false, "an error did not stop the thread", size);
                break;
            case 1:
                need(false, "an error of CEA_HALT stopped only the thread", size);
            }
            check("an error", size);
        }
    }
    printf("good\n");
    return 0;
}
