/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* What the address and undefined-behaviour sanitizers find is reported as faults are; no thread
 * stops.
 */
#include "isolation/faults.h"
#include "state.h"

#ifdef CAMKES_SANITIZED

#include <sanitizer/asan_interface.h>
#include <stdio.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

/* Declared by the undefined-behaviour sanitizer alone. */
void __ubsan_get_current_report_data(const char **kind, const char **message, const char **file,
                                     unsigned *line, unsigned *column, char **address);
EXPORTED void __ubsan_on_report(void);

/* Faults of components are ours to handle; what the kernel holds at the end is not a leak. */
EXPORTED const char *__asan_default_options(void)
{
    return "handle_segv=0:handle_sigbus=0:handle_abort=0:handle_sigill=0:handle_sigfpe=0:"
           "detect_leaks=0:detect_stack_use_after_return=0:halt_on_error=0";
}

static void report(const char *what, const char *text)
{
    struct thread *self = process.loaded;
    if (!self || !kernel->booted) {
        return; /* while images are loaded: the sanitizer's own text is all there is */
    }
    const struct fault before = self->fault;
    backtrace_take(self, 0, false);
    report_finding(self, what, text);
    self->fault = before;
    kernel->faulted = true;
}

static void on_address(const char *text)
{
    char what[128];
    const char *access = __asan_get_report_access_type() ? "write" : "read";
    size_t size = __asan_get_report_access_size();
    if (size > 0) {
        snprintf(what, sizeof what, "%s of %zu byte%s: %s", access, size, size == 1 ? "" : "s",
                 __asan_get_report_description());
    } else {
        snprintf(what, sizeof what, "%s", __asan_get_report_description());
    }
    report(what, text);
}

void __ubsan_on_report(void)
{
    const char *kind, *message, *file;
    unsigned line, column;
    char *address;
    __ubsan_get_current_report_data(&kind, &message, &file, &line, &column, &address);
    report(message, kind);
}

void sanitizers_initialise(void)
{
    __asan_set_error_report_callback(on_address);
}

#else

void sanitizers_initialise(void)
{
}

#endif
