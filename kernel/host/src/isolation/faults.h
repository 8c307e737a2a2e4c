/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* What goes wrong in components, from a signal to a report. */
#pragma once

#include "threads.h"
#include <signal.h>

/* backtrace.c */
const char *last_part(const char *path);
bool in_image(const struct space *space, uint64_t address);
void backtrace_take(struct thread *thread, uint64_t from, bool exact);
void backtrace_broken(void);

/* locate.c */
void locate(struct thread *thread, uint64_t pc, uint64_t sp);

/* report.c */
void report_initialise(void);
void report_words(const struct fault *fault, char text[static 128]);
void report_fault(const struct thread *thread, const struct thread *cause);
void report_finding(const struct thread *thread, const char *what, const char *text);
void report_write(void);

/* fault.c */
void fault_raise(struct thread *thread);
void fault_capability(struct thread *thread, seL4_CPtr slot, bool receiving);
void fault_fill_exception(struct fault *fault);
void fault_space(struct space *space, enum camkes_fault kind, uint64_t detail,
                 const struct thread *cause);

/* polling.c */
void polling_initialise(void);
const char *polling_maps(void);
bool polling_digest(const void *registers, size_t size, uint64_t *digest);

/* signals.c */
enum { SIGNAL_RESUME = SIGUSR2, SIGNAL_BLOCKED = SIGUSR1 };
void signals_initialise(void);
void signals_watch(void);
stack_t signals_stack(void);

/* sanitizers.c */
void sanitizers_initialise(void);
