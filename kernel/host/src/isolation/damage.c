/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* When the kernel's memory was overwritten: the run ends. */
#include "isolation/memory.h"
#include "record/output.h"
#include "isolation/processes.h"
#include "state.h"

#include <stdio.h>
#include <unistd.h>

/* A component that wrote over the kernel's memory does not get further than its next operation. */
void damage_check(void)
{
    if (!integrity_of_block()) {
        damage_end();
    }
}

/* Nothing in the kernel's memory can be relied upon. A process of a component leaves it to the
 * runner to report it. */
_Noreturn void damage_end(void)
{
    if (!process.space) {
        unsigned last = integrity_last_space();
        const char *name = last == NONE ? NULL : children_name(last);
        dprintf(STDERR_FILENO, "camkes-host: a component wrote into the kernel's memory%s%s%s\n",
                name ? " (" : "", name ? name : "", name ? " ran last)" : "");
    }
    process_exit(STATUS_DAMAGED);
}
