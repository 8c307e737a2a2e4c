/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Swaps stacks: what a function has to preserve goes to the old one and comes from the new one. */

/* void context_swap(void **save, void *load); */
        .text
        .globl  context_swap
        .hidden context_swap
        .type   context_swap, @function
context_swap:
        .cfi_startproc
        pushq   %rbp                    /* first: frames stay linked for a debugger */
        pushq   %r15
        pushq   %r13
        pushq   %r14
        pushq   %r12
        pushq   %rbx
        subq    $8, %rsp                /* rounding and exception modes of both units */
        stmxcsr (%rsp)
        fnstcw  4(%rsp)
        movq    %rsp, (%rdi)            /* *save */
        movq    %rsi, %rsp              /* from here on it is the other thread */
        ldmxcsr (%rsp)
        fldcw   4(%rsp)
        addq    $8, %rsp
        popq    %rbx
        popq    %r12
        popq    %r14
        popq    %r13
        popq    %r15
        popq    %rbp
        ret
        .cfi_endproc
        .size   context_swap, . - context_swap

/* void *context_make(void *stack_top, void (*entry)(void)); */
        .globl  context_make
        .hidden context_make
        .type   context_make, @function
context_make:
        .cfi_startproc
        leaq    -72(%rdi), %rax
        stmxcsr (%rax)
        fnstcw  4(%rax)
        movq    $0, 8(%rax)
        movq    $0, 16(%rax)
        movq    $0, 24(%rax)
        movq    $0, 32(%rax)
        movq    $0, 40(%rax)
        movq    $0, 48(%rax)
        movq    %rsi, 56(%rax)          /* where context_swap returns to */
        movq    $0, 64(%rax)            /* the end of the chain of frames */
        ret
        .cfi_endproc
        .size   context_make, . - context_make
        .section .note.GNU-stack, "", @progbits
