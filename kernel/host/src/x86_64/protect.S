/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * long access_protect(void *start, size_t length, long protection);
 * The system call mprotect, made at one known place: the filter of confine.c lets only that one
 * change the access to the kernel's memory. Returns 0 or a negative error.
 */
        .text
        .globl  access_protect
        .hidden access_protect
        .globl  access_protect_called
        .hidden access_protect_called
        .type   access_protect, @function
access_protect:
        .cfi_startproc
        movl    $10, %eax
        syscall
access_protect_called:
        ret
        .cfi_endproc
        .size   access_protect, . - access_protect
        .section .note.GNU-stack, "", @progbits
