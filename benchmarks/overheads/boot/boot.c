/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * A source file of each component: prints "boot: COUNTER" before anything else of the component
 * executes.
 */
#include <cycles.h>
#include <inttypes.h>
#include <sel4/sel4.h>
#include <stdio.h>

static __attribute__((constructor)) void tell(void)
{
    char line[40];
    (void)snprintf(line, sizeof line, "boot: %" PRIu64 "\n", cycles());
    for (const char *next = line; *next != 0; next++) {
        seL4_DebugPutChar(*next);
    }
}
