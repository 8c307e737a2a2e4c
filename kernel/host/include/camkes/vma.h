/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The memory map of a component. On the host kernel the workstation has it: the table is empty. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct camkes_vma {
    void *start;
    void *end;
    bool read;
    bool write;
    bool execute;
    bool cached;
    const char *name;
};

extern const struct camkes_vma camkes_vmas[];
extern const size_t camkes_vmas_size;
