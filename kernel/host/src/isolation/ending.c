/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Components that end themselves: these replace the C library's functions of the same names.
 */
#include "entry/entry.h"
#include "isolation/faults.h"
#include "record/output.h"
#include "state.h"

#include <stdio.h>
#include <string.h>
#include <stdlib.h>

#define EXPORTED __attribute__((visibility("default")))

static _Noreturn void end_component(int status)
{
    if (!process.loaded) {
        process_exit(status);
    }
    for (;;) {
        struct thread *self = kernel_enter_quietly();
        fault_space(self->space, CAMKES_FAULT_EXIT, (uint64_t)(unsigned)status, self);
        kernel_leave(self);
    }
}

static _Noreturn void abort_at(uint64_t pc)
{
    if (!process.loaded) {
        process_exit(134);
    }
    for (;;) {
        struct thread *self = kernel_enter_quietly();
        self->fault = (struct fault){.kind = CAMKES_FAULT_ABORT,
                                     .label = seL4_Fault_UserException,
                                     .length = seL4_UserException_Length,
                                     .message = {pc, 0, 0, 6, 0}};
        backtrace_take(self, 0, false);
        locate(self, pc, (uint64_t)(uintptr_t)__builtin_frame_address(0));
        fault_raise(self);
        kernel_leave(self);
    }
}

EXPORTED _Noreturn void exit(int status)
{
    end_component(status);
}

EXPORTED _Noreturn void _exit(int status)
{
    end_component(status);
}

EXPORTED _Noreturn void _Exit(int status)
{
    end_component(status);
}

EXPORTED _Noreturn void quick_exit(int status)
{
    end_component(status);
}

EXPORTED _Noreturn void abort(void)
{
    abort_at((uint64_t)(uintptr_t)__builtin_return_address(0));
}

/* Compilers write some functions with their types: the name is what stands before the parameters.
 */
static const char *bare_name(const char *function, int *length)
{
    *length = (int)strcspn(function, "(");
    const char *name = function;
    for (int i = 0; i < *length; i++) {
        name = strchr(" *&", function[i]) != NULL ? function + i + 1 : name;
    }
    *length -= (int)(name - function);
    return name;
}

EXPORTED _Noreturn void __assert_fail(const char *assertion, const char *file, unsigned line,
                                      const char *function)
{
    int length = 0;
    const char *name = bare_name(function, &length);
    fprintf(stderr, "%s:%u: %.*s: assertion failed: %s\n", file, line, length, name, assertion);
    abort_at((uint64_t)(uintptr_t)__builtin_return_address(0));
}
