/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The fault handler of an address space: prints which thread faulted and where. The thread stays
 * suspended. */
#include "image_sel4.h"

#include <camkes/platform.h>
#include <stdio.h>

/* Describes the guard page that contains `address`; NULL if none does. */
static const char *guard(seL4_Word address, char text[static 80])
{
    for (unsigned i = 0; i < camkes_sel4_image.thread_count; i++) {
        const struct camkes_sel4_thread *thread = &camkes_sel4_image.threads[i];
        const seL4_Word stack = (seL4_Word)thread->stack;
        if (address >= stack - CAMKES_SEL4_PAGE && address < stack) {
            snprintf(text, 80, " (below the stack of %s)", thread->name);
            return text;
        }
        if (address >= stack + thread->stack_size &&
            address < stack + thread->stack_size + CAMKES_SEL4_PAGE) {
            snprintf(text, 80, " (above the stack of %s)", thread->name);
            return text;
        }
    }
    return "";
}

/* Reads the fault message of the kernel from the message registers. */
static void describe(seL4_Word label, char text[static 160])
{
    char where[80];
    switch (label) {
    case seL4_Fault_VMFault: {
        const seL4_Word address = seL4_GetMR(seL4_VMFault_Addr);
        snprintf(text, 160, "invalid %s at 0x%lx%s, pc 0x%lx",
                 seL4_GetMR(seL4_VMFault_PrefetchFault) ? "jump" : "memory access",
                 (unsigned long)address, guard(address, where),
                 (unsigned long)seL4_GetMR(seL4_VMFault_IP));
        break;
    }
    case seL4_Fault_CapFault:
        snprintf(text, 160, "invalid capability %lu, pc 0x%lx",
                 (unsigned long)seL4_GetMR(seL4_CapFault_Addr),
                 (unsigned long)seL4_GetMR(seL4_CapFault_IP));
        break;
    case seL4_Fault_UnknownSyscall:
        snprintf(text, 160, "unknown system call, pc 0x%lx",
                 (unsigned long)seL4_GetMR(seL4_UnknownSyscall_FaultIP));
        break;
    case seL4_Fault_UserException:
        snprintf(text, 160, "exception %lu, pc 0x%lx",
                 (unsigned long)seL4_GetMR(seL4_UserException_Number),
                 (unsigned long)seL4_GetMR(seL4_UserException_FaultIP));
        break;
    default:
        snprintf(text, 160, "fault of kind %lu", (unsigned long)label);
        break;
    }
}

void camkes_sel4_handle_faults(void)
{
    for (;;) {
        seL4_Word badge = 0;
        const seL4_MessageInfo_t info = camkes_platform_listen(camkes_sel4_image.faults, &badge);
        char what[160];
        char line[320];
        describe(seL4_MessageInfo_get_label(info), what);
        if (badge == 0 || badge > camkes_sel4_image.thread_count) {
            continue;
        }
        const struct camkes_sel4_thread *thread = &camkes_sel4_image.threads[badge - 1];
        const int length = snprintf(line, sizeof(line), "FAULT HANDLER: %s: thread %s: %s\n",
                                    thread->instance, thread->name, what);
        camkes_platform_write(line,
                              (size_t)length < sizeof(line) ? (size_t)length : sizeof(line) - 1);
    }
}
