/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The block of memory that holds the kernel's state: who may write to it, and whether it is sound.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* state.c: bytes of the block */
extern const size_t memory_size;

/* memory.c */
void memory_create(void);
bool memory_contains(uint64_t address);
void *memory_take(size_t size);
size_t memory_used(void);
char *memory_text(const char *text, size_t length);

/* access.c */
void access_restrict(void);
bool access_has_key(void);
void access_open(void);
void access_close(void);
void access_in_handler(void);

/* protect.S */
long access_protect(void *start, size_t length, long protection);
extern const char access_protect_called[];
void access_end(int status);
extern const char access_end_called[];
long access_load(long call, long, long, long, long, long);
extern const char access_load_called[];

/* integrity.c */
void integrity_initialise(void);
bool integrity_of_block(void);
bool integrity_of_tables(void);
bool integrity_of_state(void);
unsigned integrity_last_space(void);

/* damage.c */
void damage_check(void);
_Noreturn void damage_end(void);
