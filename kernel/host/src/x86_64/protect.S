/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * long access_protect(void *start, size_t length, long protection);
 * The system call mprotect, made at one known place: the filter of confine.c lets only that one
 * change the access to the kernel's memory. Returns 0 or a negative error.
 *
 * void access_end(int status);
 * The system call exit_group, likewise, so that a component cannot end its process with a status
 * that has a meaning. Returns only if it is not allowed.
 *
 * long access_load(long call, long, long, long, long, long);
 * A system call with up to five arguments, likewise: what is done between loading an image and
 * running it. Returns its result or a negative error.
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
        .globl  access_end
        .hidden access_end
        .globl  access_end_called
        .hidden access_end_called
        .type   access_end, @function
access_end:
        .cfi_startproc
        movl    $231, %eax
        syscall
access_end_called:
        ret
        .cfi_endproc
        .size   access_end, . - access_end
        .globl  access_load
        .hidden access_load
        .globl  access_load_called
        .hidden access_load_called
        .type   access_load, @function
access_load:
        .cfi_startproc
        movq    %rdi, %rax
        movq    %rsi, %rdi
        movq    %rdx, %rsi
        movq    %rcx, %rdx
        movq    %r8, %r10
        movq    %r9, %r8
        syscall
access_load_called:
        ret
        .cfi_endproc
        .size   access_load, . - access_load
        .section .note.GNU-stack, "", @progbits
