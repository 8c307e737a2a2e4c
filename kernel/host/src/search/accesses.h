/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Accesses of components to memory. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The running thread is about to access `size` bytes, in code that returns to `from`. */
void accesses_range(const void *address, size_t size, bool write, const void *from);
