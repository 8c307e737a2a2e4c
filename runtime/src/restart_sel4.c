/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Lets a thread go on elsewhere; by itself, as it needs the tables of components. */
#include "image_sel4.h"

#include <autoconf.h>
#include <camkes/platform.h>

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
    if (seL4_TCB_WriteRegisters(thread->tcb, true, 0, count, &registers) != seL4_NoError) {
        camkes_platform_fault();
    }
}

void camkes_platform_end_thread(void)
{
    for (;;) {
        seL4_TCB_Suspend(camkes_self()->tcb);
    }
}

#endif
