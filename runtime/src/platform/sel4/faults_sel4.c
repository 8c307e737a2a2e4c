/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The fault handler of an address space: prints which thread faulted and where, and of its stack
 * what the workstation needs to find its calls. The thread stays suspended. */
#include "image_sel4.h"

#include <camkes/platform.h>
#include <stdio.h>

/* Words of a stack that are printed, at most: those that can be return addresses or frame pointers.
 */
#define WORDS 32

/* Characters before the words of a stack, and those of a word with its distance. */
#define HEAD 320
#define EACH 40

/* Describes the guard page that contains `address`; NULL if none does. */
static const char *guard(seL4_Word address, char text[80])
{
    for (unsigned i = 0; i < camkes_sel4_image.thread_count; i++) {
        const struct camkes_sel4_thread *thread = &camkes_sel4_image.threads[i];
        const seL4_Word stack = (seL4_Word)thread->stack;
        if (address >= stack - CAMKES_SEL4_PAGE && address < stack) {
            (void)snprintf(text, 80, " (below the stack of %s)", thread->name);
            return text;
        }
        if (address >= stack + thread->stack_size &&
            address < stack + thread->stack_size + CAMKES_SEL4_PAGE) {
            (void)snprintf(text, 80, " (above the stack of %s)", thread->name);
            return text;
        }
    }
    return "";
}

/* Reads the fault message of the kernel from the message registers. */
static void describe(seL4_Word label, char text[160])
{
    char where[80];
    switch (label) {
    case seL4_Fault_VMFault: {
        const seL4_Word address = seL4_GetMR(seL4_VMFault_Addr);
        (void)snprintf(text, 160, "invalid %s at 0x%lx%s, pc 0x%lx",
                       seL4_GetMR(seL4_VMFault_PrefetchFault) ? "jump" : "memory access",
                       (unsigned long)address, guard(address, where),
                       (unsigned long)seL4_GetMR(seL4_VMFault_IP));
        break;
    }
    case seL4_Fault_CapFault:
        (void)snprintf(text, 160, "invalid capability %lu, pc 0x%lx",
                       (unsigned long)seL4_GetMR(seL4_CapFault_Addr),
                       (unsigned long)seL4_GetMR(seL4_CapFault_IP));
        break;
    case seL4_Fault_UnknownSyscall:
        (void)snprintf(text, 160, "unknown system call, pc 0x%lx",
                       (unsigned long)seL4_GetMR(seL4_UnknownSyscall_FaultIP));
        break;
    case seL4_Fault_UserException:
        (void)snprintf(text, 160, "exception %lu, pc 0x%lx",
                       (unsigned long)seL4_GetMR(seL4_UserException_Number),
                       (unsigned long)seL4_GetMR(seL4_UserException_FaultIP));
        break;
    default:
        (void)snprintf(text, 160, "fault of kind %lu", (unsigned long)label);
        break;
    }
}

/* The registers with which the calls of a thread are found; `ra` is the return address where it is
 * in a register, else 0. */
struct registers {
    seL4_Word pc, sp, fp, ra;
};

/* Where `camkes debug` stops: the thread cannot go on, and these are its registers. */
void camkes_sel4_at_fault(const struct camkes_sel4_thread *thread,
                          const seL4_UserContext *registers);
__attribute__((noinline)) void camkes_sel4_at_fault(const struct camkes_sel4_thread *thread,
                                                    const seL4_UserContext *registers)
{
    __asm__ volatile("" : : "r"(thread), "r"(registers) : "memory");
}

static int read_registers(const struct camkes_sel4_thread *thread, struct registers *found)
{
    static seL4_UserContext all; /* there is one fault handler in an address space */
    const seL4_Word count = sizeof(all) / sizeof(seL4_Word);
    if (thread->tcb == 0 ||
        seL4_TCB_ReadRegisters(thread->tcb, 0, 0, count, &all) != seL4_NoError) {
        return 0;
    }
    camkes_sel4_at_fault(thread, &all);
#if defined(CONFIG_ARCH_X86_64)
    *found = (struct registers){all.rip, all.rsp, all.rbp, 0};
#elif defined(CONFIG_ARCH_IA32)
    *found = (struct registers){all.eip, all.esp, all.ebp, 0};
#elif defined(CONFIG_ARCH_AARCH64)
    *found = (struct registers){all.pc, all.sp, all.x29, all.x30};
#elif defined(CONFIG_ARCH_AARCH32)
    *found = (struct registers){all.pc, all.sp, all.r11, all.r14};
#else
    *found = (struct registers){all.pc, all.sp, all.s0, all.ra};
#endif
    return 1;
}

/* Prints the registers of a thread, and the words of its stack, each with its distance from the
 * stack pointer. Nothing if it has another stack, or there is no capability to its TCB. */
static void write_stack(const struct camkes_sel4_thread *thread)
{
    static char line[HEAD + WORDS * EACH];
    const seL4_Word bottom = (seL4_Word)thread->stack;
    const seL4_Word top = bottom + thread->stack_size;
    struct registers at;
    if (!read_registers(thread, &at) || at.sp + CAMKES_SEL4_PAGE < bottom || at.sp >= top) {
        return;
    }
    int used = snprintf(line, HEAD, "FAULT HANDLER: %s: pc 0x%lx sp 0x%lx fp 0x%lx ra 0x%lx stack",
                        camkes_sel4_image.name, (unsigned long)at.pc, (unsigned long)at.sp,
                        (unsigned long)at.fp, (unsigned long)at.ra);
    if (used < 0 || used >= HEAD) {
        return; /* a long name */
    }
    unsigned words = 0;
    seL4_Word next = at.sp < bottom ? bottom : at.sp & ~(sizeof(seL4_Word) - 1);
    for (; next < top && words < WORDS; next += sizeof(seL4_Word)) {
        const seL4_Word word = *(const seL4_Word *)next;
        const bool code = word >= (seL4_Word)__executable_start && word < (seL4_Word)__etext;
        if (code || (word > next && word <= top)) {
            used += snprintf(line + used, sizeof(line) - (size_t)used, " +%lx:%lx",
                             (unsigned long)(next - at.sp), (unsigned long)word);
            words++;
        }
    }
    line[used++] = '\n';
    camkes_platform_write(line, (size_t)used);
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
        write_stack(thread);
    }
}
