/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct camkes_vma {
    void *start, *end;
    bool read, write, execute, cached;
    const char *name;
};

extern const struct camkes_vma camkes_vmas[];
extern const size_t camkes_vmas_size;
