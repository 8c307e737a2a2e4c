/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Lets a thread go on elsewhere than where it is; by itself, as it needs the tables of components.
 */
#include "image_sel4.h"

#include <autoconf.h>
#include <camkes/platform.h>
#include <string.h>

#if defined(CONFIG_KERNEL_MCS)

void camkes_platform_restart(const struct camkes_thread *thread, void (*entry)(void))
{
    const struct camkes_sel4_thread *self = &camkes_sel4_image.threads[camkes_thread_index(thread)];
    const seL4_Word top = (seL4_Word)self->stack + self->stack_size;
    seL4_UserContext registers = {0};
    /* the first registers are those of the place in the code and on the stack */
#if defined(CONFIG_ARCH_X86_64)
    registers.rip = (seL4_Word)entry;
    registers.rsp = top - sizeof(seL4_Word); /* as after a call */
    const seL4_Word count = 2;
#elif defined(CONFIG_ARCH_IA32)
    registers.eip = (seL4_Word)entry;
    registers.esp = top - sizeof(seL4_Word);
    const seL4_Word count = 2;
#else
    registers.pc = (seL4_Word)entry;
    registers.sp = top;
    const seL4_Word count = offsetof(seL4_UserContext, sp) / sizeof(seL4_Word) + 1;
#endif
    camkes_must(seL4_TCB_WriteRegisters(thread->tcb, true, 0, count, &registers));
}

/* The instruction that enters the kernel, and what a Call leaves in its registers: the number of
 * the operation, and 0, the badge of a reply, where the capability was. */
#if defined(CONFIG_ARCH_X86)
static const uint8_t ENTRY[][2] = {{0x0f, 0x05}, {0x0f, 0x34}};
#elif defined(CONFIG_ARCH_AARCH64)
static const uint8_t ENTRY[][4] = {{0x01, 0x00, 0x00, 0xd4}};
#elif defined(CONFIG_ARCH_ARM)
static const uint8_t ENTRY[][4] = {{0x00, 0x00, 0x00, 0xef}};
#else
static const uint8_t ENTRY[][4] = {{0x73, 0x00, 0x00, 0x00}};
#endif

#if defined(CONFIG_ARCH_IA32)
#define PLACE(registers) ((registers).eip)
#define OPERATION(registers) ((registers).eax)
#define FIRST(registers) ((registers).ebx)
#elif defined(CONFIG_ARCH_X86_64)
#define PLACE(registers) ((registers).rip)
#if defined(CONFIG_SYSENTER)
#define OPERATION(registers) ((registers).rax)
#else
#define OPERATION(registers) ((registers).rdx)
#endif
#define FIRST(registers) ((registers).rdi)
#elif defined(CONFIG_ARCH_AARCH64)
#define PLACE(registers) ((registers).pc)
#define OPERATION(registers) ((registers).x7)
#define FIRST(registers) ((registers).x0)
#elif defined(CONFIG_ARCH_ARM)
#define PLACE(registers) ((registers).pc)
#define OPERATION(registers) ((registers).r7)
#define FIRST(registers) ((registers).r0)
#else
#define PLACE(registers) ((registers).pc)
#define OPERATION(registers) ((registers).a7)
#define FIRST(registers) ((registers).a0)
#endif

static bool is_entry(seL4_Word place)
{
    for (size_t i = 0; i < sizeof(ENTRY) / sizeof(*ENTRY); i++) {
        if (memcmp((const void *)place, ENTRY[i], sizeof(*ENTRY)) == 0) {
            return true;
        }
    }
    return false;
}

/* Whether a thread has got the reply to a Call, and would make that again. Not inlined: compilers
 * take the number of this Call, which is known then, for that of the next one. */
static __attribute__((noinline)) bool calls_again(const seL4_UserContext *registers)
{
    return FIRST(*registers) == 0 && OPERATION(*registers) == (seL4_Word)seL4_SysCall &&
           is_entry(PLACE(*registers));
}

bool camkes_platform_keep_reply(const struct camkes_thread *thread)
{
    seL4_UserContext registers = {0};
    camkes_must(seL4_TCB_ReadRegisters(thread->tcb, false, 0, sizeof(registers) / sizeof(seL4_Word),
                                       &registers));
    if (!calls_again(&registers)) {
        return false;
    }
    PLACE(registers) += sizeof(*ENTRY);
    camkes_must(seL4_TCB_WriteRegisters(thread->tcb, false, 0, 1, &registers));
    return true;
}

void camkes_platform_end_thread(void)
{
    for (;;) {
        seL4_TCB_Suspend(camkes_self()->tcb);
    }
}

#endif
