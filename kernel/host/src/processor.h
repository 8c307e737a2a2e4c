/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * What signal handlers and the filter of system calls need of a processor. A folder for
 * each has registers.h (struct registers, and numbers), processor.c, context.S and protect.S; the
 * Makefile takes the folder of the machine that is compiled for.
 *
 * SYSCALL_ABI is the number of the processor's ABI as seccomp has it; numbers of system calls from
 * SYSCALL_FOREIGN on belong to another one.
 */
#pragma once

#include "threads.h"

#include <registers.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

uint64_t processor_pc(const ucontext_t *context);
uint64_t processor_sp(const ucontext_t *context);

/*
 * What code of a component can change and code of the kernel relies upon: the base of thread-local
 * variables, and flags. `remember` notes the base, before there is such code; `settle` puts all of
 * it right.
 */
void processor_remember(void);
void processor_settle(void);

/* Arguments, from 0 to 2, and result of a system call or a function of integers. */
uint64_t processor_call_argument(const ucontext_t *context, unsigned i);
void processor_set_call_result(ucontext_t *context, uint64_t result);

/* As if the function that was called had returned: for a jump to an address that is not code. */
void processor_undo_call(ucontext_t *context, const struct thread *self);

/* At a memory fault: whether it was a write, and whether the address is not known. */
bool processor_wrote(const ucontext_t *context);
bool processor_hides_address(const ucontext_t *context);

/* All registers of the interrupted code. */
void processor_save(struct registers *registers, const ucontext_t *context);
void processor_restore(const struct registers *registers, ucontext_t *context);

/* The code goes on in `to` instead, on another stack. */
void processor_redirect(ucontext_t *context, char *stack_top, void (*to)(void));
