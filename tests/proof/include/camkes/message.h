/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* What camkes/cpi.h needs of this header, for Frama-C, which does not read all of C11. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uintptr_t seL4_Word;
typedef seL4_Word seL4_CPtr;
