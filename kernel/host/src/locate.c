/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Where a fault was, in words that lead to a line of the component's source. */
#include "kernel.h"

#include <dlfcn.h>
#include <string.h>

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool in_image(const struct space *space, uint64_t address)
{
    return address >= space->text && address < space->text_end;
}

/* Whether the instruction before this address may be a call. */
static bool after_call(uint64_t address)
{
    const unsigned char *code = (const unsigned char *)(uintptr_t)address;
#if defined __x86_64__
    return code[-5] == 0xe8 || (code[-6] == 0xff && code[-5] == 0x15) || code[-2] == 0xff ||
           code[-3] == 0xff || code[-3] == 0x41;
#elif defined __aarch64__
    uint32_t before;
    memcpy(&before, code - 4, sizeof before);
    return before >> 26 == 0x25 || (before & 0xfffffc1f) == 0xd63f0000;
#else
#error "locate.c does not know the calls of this processor"
#endif
}

static bool is_return_address(const struct space *space, uint64_t word)
{
    return in_image(space, word) && word >= space->text + 6 && after_call(word);
}

/* The innermost return address into the component's own code: that of the running function, where a
 * register has it, else one on the stack. */
static uint64_t find_caller(const struct thread *thread, uint64_t sp)
{
    enum { MOST = 4096 };
    if (is_return_address(thread->space, thread->fault.link)) {
        return thread->fault.link;
    }
    uint64_t low = (uint64_t)(uintptr_t)thread->stack,
             high = (uint64_t)(uintptr_t)thread->stack_top;
    sp = (sp < low ? low : sp) & ~(uint64_t)7;
    for (unsigned i = 0; i < MOST && sp + 8 <= high; i++, sp += 8) {
        uint64_t word = *(const uint64_t *)(uintptr_t)sp;
        if (is_return_address(thread->space, word)) {
            return word;
        }
    }
    return 0;
}

static void locate_in_image(struct fault *fault, const struct space *space, uint64_t address)
{
    strncpy(fault->module, last_part(space->image), sizeof fault->module - 1);
    fault->pc = address;
    fault->offset = address - space->base;
}

/* Fills in where thread->fault was. */
void locate(struct thread *thread, uint64_t pc, uint64_t sp)
{
    struct fault *fault = &thread->fault;
    const struct space *space = thread->space;
    Dl_info info;
    fault->pc = pc;
    fault->sp = sp;
    fault->offset = fault->caller = 0;
    strcpy(fault->module, "?");
    if (in_image(space, pc)) {
        locate_in_image(fault, space, pc);
        return;
    }
    if (pc && dladdr((void *)(uintptr_t)pc, &info) && info.dli_fname) {
        strncpy(fault->module, last_part(info.dli_fname), sizeof fault->module - 1);
        fault->offset = pc - (uint64_t)(uintptr_t)info.dli_fbase;
    }
    uint64_t caller = find_caller(thread, sp);
    if (caller && !pc) {
        locate_in_image(fault, space, caller);
    } else if (caller) {
        fault->caller = caller - space->base;
    }
}
