/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The memory that a system under search can write to, in pages of 4 KiB. */
#pragma once

#include "state.h"

enum { PAGE = 4096, CHUNK = 64, WORDS = 8, CHUNKS = PAGE / CHUNK };
static const unsigned NO_OWNER = UINT32_MAX;

struct page {
    char *live, *copy;
    uint8_t masks[CHUNKS]; /* words that make a difference, a bit each */
    unsigned owner; /* who writes to it: a space, the number of spaces + a thread, NO_OWNER */
    bool learned;   /* read-only until it is written to, then active */
    bool active;
    unsigned same, patience; /* snapshots in which it was the same, and in which it may be */
};

extern struct page *pages;
extern unsigned pages_count;

void *pages_reserve(size_t size);
void pages_map_regions(void);
void pages_find(void);
unsigned pages_at(const void *address);
void pages_protect(void);
