/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * long memory_protect(void *start, size_t length, long protection);
 * The system call mprotect, made at one known place: the filter of confine.c lets only that one
 * change the access to the kernel's memory. Returns 0 or a negative error.
 */
        .text
        .globl  memory_protect
        .hidden memory_protect
        .globl  memory_protect_called
        .hidden memory_protect_called
#if defined __x86_64__
        .type   memory_protect, @function
memory_protect:
        .cfi_startproc
        movl    $10, %eax
        syscall
memory_protect_called:
        ret
        .cfi_endproc
#elif defined __aarch64__
        .type   memory_protect, %function
memory_protect:
        .cfi_startproc
        mov     x8, #226
        svc     #0
memory_protect_called:
        ret
        .cfi_endproc
#endif
        .size   memory_protect, . - memory_protect
#if defined __x86_64__
        .section .note.GNU-stack, "", @progbits
#else
        .section .note.GNU-stack, "", %progbits
#endif
