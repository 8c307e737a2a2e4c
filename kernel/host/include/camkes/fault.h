/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* For components that receive faults themselves. */
#pragma once

#include <sel4/sel4.h>
#include <stdbool.h>
#include <stdint.h>

/* Addresses `start` .. `end`, without the latter. */
typedef struct camkes_memory_region {
    uintptr_t start, end;
    const char *name; /* NULL: the table is over */
} camkes_memory_region_t;

/*
 * Prints a fault message. `thread` is the badge that it came with and `name` that thread's name;
 * `regions` may be NULL.
 */
void camkes_show_fault(seL4_MessageInfo_t info, seL4_CPtr thread, const char *name, bool tcb_caps,
                       const camkes_memory_region_t *regions);
