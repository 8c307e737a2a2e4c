/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: RT-33 */
/* However long names and texts are, what is printed is one whole line of at most 256 bytes. Which
 * handler is called, and what becomes of an error. */
#include <camkes/error.h>
#include <camkes/instance.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

static char printed[512];
static size_t length;
static jmp_buf faulted;
static seL4_IPCBuffer buffer;
static char name[600];
static struct camkes_instance instance = {.name = name};
static struct camkes_thread thread = {.name = "first", .instance = &instance};

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
    need(size < 254 ? length < 256 : length == 255, what, size);
    need(length > 0 && strchr(printed, '\n') == printed + length - 1, what, size);
    length = 0;
}

static camkes_error_action_t halt(camkes_error_t *error)
{
    (void)error;
    return CEA_HALT;
}

static camkes_error_action_t answer;
static unsigned by_own, by_component;

static camkes_error_action_t own(camkes_error_t *error)
{
    (void)error;
    by_own++;
    return answer;
}

static camkes_error_action_t of_component(camkes_error_t *error)
{
    (void)error;
    by_component++;
    return answer;
}

static void printed_is(const char *text)
{
    need(length == strlen(text) && strcmp(printed, text) == 0, text, length);
    length = 0;
}

static void handlers(void)
{
    camkes_error_t error = {.type = CE_SYSCALL_FAILED, .instance = "a", .description = "what"};
    answer = CEA_IGNORE;
    need(camkes_received_error(NULL, &error) == CEA_DISCARD, "no handler for what was received", 0);
    need(camkes_received_error(own, &error) == CEA_IGNORE && by_own == 1, "a handler for it", 0);
    need(camkes_register_error_handler(of_component) == NULL, "the first of the component", 0);
    need(camkes_received_error(NULL, &error) == CEA_IGNORE && by_component == 1, "that one", 0);
    need(camkes_error(&error) == CEA_IGNORE && by_component == 2, "an error of the component", 0);
    answer = CEA_DISCARD;
    need(camkes_handle_error(NULL, &error) == CEA_DISCARD && by_component == 3, "the same", 0);
    need(camkes_handle_error(own, &error) == CEA_DISCARD && by_own == 2, "the interface's own", 0);
    need(by_component == 3, "only one is called", 0);
    need(camkes_register_error_handler(NULL) == of_component, "the one before", 0);
    need(length == 0, "nothing is printed", 0);
}

static void stops(volatile camkes_error_action_t action, camkes_error_t error, const char *text)
{
    answer = action;
    volatile int how = setjmp(faulted);
    if (how == 0) {
        (void)camkes_handle_error(action == CEA_INVALID ? NULL : own, &error);
        need(false, "an error did not stop the thread", 0);
    }
    need(how == (action == CEA_HALT ? 2 : 1), "it stops in another way", 0);
    printed_is(text);
}

static void texts(void)
{
    camkes_error_t error = {.type = CE_SYSCALL_FAILED, .instance = "a", .description = "what"};
    stops(CEA_INVALID, error, "camkes: a: what\n");
    error.interface = "i";
    stops(CEA_HALT, error, "camkes: a.i: what\n");
    error.type = CE_BUFFER_LENGTH_EXCEEDED;
    error.target_length = 9;
    error.current_length = 3;
    stops(CEA_HALT, error, "camkes: a.i: what: needs 9 bytes, there are 3\n");
    error.type = CE_MALFORMED_RPC_PAYLOAD;
    error.length = 7;
    error.current_index = 5;
    stops(CEA_ABORT, error, "camkes: a.i: what: ends after 7 bytes, at byte 5\n");
    error.length = 1;
    stops(CEA_ABORT, error, "camkes: a.i: what: ends after 1 bytes, at byte 5\n");
    error.type = CE_SYSCALL_FAILED; /* its fields have the same place */
    stops(CEA_ABORT, error, "camkes: a.i: what\n");
    error.type = CE_MALFORMED_RPC_PAYLOAD;
    error.length = 0;
    stops(CEA_ABORT, error, "camkes: a.i: what\n");
    void (*volatile fails)(const char *, ...) = camkes_fail;
    strcpy(name, "me");
    if (setjmp(faulted) == 0) {
        fails("%s %d", "it", 1);
        need(false, "the thread goes on", 0);
    }
    printed_is("camkes: me: it 1\n");
    for (volatile unsigned i = 0; i < 2; i++) {
        if (setjmp(faulted) == 0) {
            camkes_assertion_failed(i == 0 ? "folder/file.c" : "file.c", 17, "x > 0");
        }
        printed_is("camkes: me: thread first: file.c:17: assertion failed: x > 0\n");
    }
    seL4_SetUserData(0);
    if (setjmp(faulted) == 0) {
        fails("%s", "early");
    }
    printed_is("camkes: before the first thread: early\n");
    seL4_SetUserData((seL4_Word)&thread);
    camkes_print("%d", 2);
    printed_is("2\n");
    camkes_print("%lc", (wint_t)WEOF); /* no character: nothing can be printed of it */
    printed_is("\n");
}

int main(void)
{
    static const camkes_error_type_t types[] = {CE_BUFFER_LENGTH_EXCEEDED, CE_MALFORMED_RPC_PAYLOAD,
                                                CE_INVALID_METHOD_INDEX, CE_ALLOCATION_FAILURE};
    seL4_SetUserData((seL4_Word)&thread);
    handlers();
    texts();
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
