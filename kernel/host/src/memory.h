/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The block of memory that holds the kernel's state: who may write to it, and whether it is sound.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* memory.c */
void memory_create(void);
bool memory_good(void);
void memory_check(void);
_Noreturn void memory_damaged(void);
void memory_harden(void);
void memory_open(void);
void memory_close(void);
bool memory_contains(uint64_t address);
extern const size_t memory_size;
void *memory_take(size_t size);
char *memory_text(const char *text, size_t length);

/* protect.S */
long memory_protect(void *start, size_t length, long protection);
extern const char memory_protect_called[];

/* integrity.c */
void integrity_initialise(void);
bool integrity_of_tables(void);
bool integrity_of_state(void);
unsigned integrity_last_space(void);
