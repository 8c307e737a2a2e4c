/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* From the boot table to threads that can run. */
#pragma once

#include "threads.h"

/* table.c */
void table_read(const char *path);

/* input.c */
void input_initialise(void);

/* space.c */
void space_prepare(struct space *space);
void space_load(struct space *space);
void space_write_coverage(void);

/* thread.c */
void thread_reserve_stacks(void);
void thread_create(struct thread *thread);
uint64_t thread_stack_used(const struct thread *thread);
