/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Where a fault was, in words that lead to a line of the component's source. */
#include "isolation/faults.h"

#include <dlfcn.h>
#include <string.h>

static void locate_in_image(struct fault *fault, const struct space *space, uint64_t address)
{
    strncpy(fault->module, last_part(space->image), sizeof fault->module - 1);
    fault->offset = address - space->base;
}

/* Fills in where thread->fault was; its frames are known already. */
void locate(struct thread *thread, uint64_t pc, uint64_t sp)
{
    struct fault *fault = &thread->fault;
    const struct space *space = thread->space;
    Dl_info info;
    fault->pc = pc;
    fault->sp = sp;
    fault->offset = 0;
    strcpy(fault->module, "?");
    if (in_image(space, pc)) {
        locate_in_image(fault, space, pc);
        if (fault->kind == CAMKES_FAULT_ABORT && fault->frame_count > 0) {
            fault->offset = fault->frames[0]; /* pc is behind the call */
        }
    } else if (pc && dladdr((void *)(uintptr_t)pc, &info) && info.dli_fname) {
        strncpy(fault->module, last_part(info.dli_fname), sizeof fault->module - 1);
        fault->offset = pc - (uint64_t)(uintptr_t)info.dli_fbase;
    } else if (fault->frame_count > 0) {
        /* a jump to nowhere: the place that it came from is more useful */
        fault->pc = space->base + fault->frames[0];
        locate_in_image(fault, space, fault->pc);
    }
}
