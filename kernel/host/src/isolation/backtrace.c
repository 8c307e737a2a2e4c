/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * The calls that led to a fault, by the unwinding tables that compilers write into programs and
 * libraries. A frame's place is inside its call: one byte before the return address.
 */
#include "isolation/faults.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <string.h>
#include <unwind.h>

extern const char __executable_start, etext;

struct walk {
    struct thread *thread;
    uint64_t from;   /* the program counter to begin at, 0: that of the first frame */
    bool exact;      /* `from` is the place itself, not a return address */
    bool begun;      /* `from` was found */
    unsigned frames; /* all that were seen */
};

static sigjmp_buf broken;
static volatile bool walking;

const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool in_kernel(uint64_t address)
{
    return address >= (uintptr_t)&__executable_start && address < (uintptr_t)&etext;
}

bool in_image(const struct space *space, uint64_t address)
{
    return address >= space->text && address < space->text_end;
}

/* A library's function, or one of the kernel, that the component's own code called. */
static void note_library(struct fault *fault, uint64_t address)
{
    Dl_info info;
    if (!dladdr((void *)(uintptr_t)address, &info)) {
        return;
    }
    const char *name = info.dli_sname ? info.dli_sname : "";
    strncpy(fault->library, name, sizeof fault->library - 1);
}

static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *data)
{
    enum { MOST = 4096 };
    struct walk *walk = data;
    struct fault *fault = &walk->thread->fault;
    int exact = 0;
    uint64_t address = _Unwind_GetIPInfo(context, &exact);
    if (!walk->begun) {
        walk->begun = !walk->from || address == walk->from;
        exact = walk->from ? walk->exact : exact;
    }
    if (!walk->begun) {
        return _URC_NO_REASON;
    }
    if (!exact) {
        address--;
    }
    if (in_image(walk->thread->space, address)) {
        fault->frames[fault->frame_count++] = address - walk->thread->space->base;
    } else if (fault->frame_count == 0) {
        note_library(fault, address);
    } else if (in_kernel(address)) {
        return _URC_NORMAL_STOP; /* which started the thread */
    }
    bool full = fault->frame_count == FAULT_FRAMES || ++walk->frames == MOST;
    return full ? _URC_NORMAL_STOP : _URC_NO_REASON;
}

/*
 * Fills in the frames of thread->fault, innermost first. In a signal handler `from` is the program
 * counter where the signal came, `exact` whether that is the instruction at fault; else 0.
 */
void backtrace_take(struct thread *thread, uint64_t from, bool exact)
{
    struct walk walk = {.thread = thread, .from = from, .exact = exact};
    thread->fault.frame_count = 0;
    memset(thread->fault.library, 0, sizeof thread->fault.library);
    if (sigsetjmp(broken, 0) == 0) {
        walking = true;
        _Unwind_Backtrace(step, &walk);
    }
    walking = false;
}

/* For the handler of faults: a stack that was overwritten may lead the walk astray, then it ends
 * with the frames that it has. Does not return in that case. */
void backtrace_broken(void)
{
    if (walking) {
        siglongjmp(broken, 1);
    }
}
