/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Swaps stacks: what a function has to preserve goes to the old one and comes from the new one. */

/* void context_swap(void **save, void *load); */
        .text
        .globl  context_swap
        .hidden context_swap
        .type   context_swap, %function
context_swap:
        sub     sp, sp, #176
        stp     x19, x20, [sp, #0]
        stp     x21, x22, [sp, #16]
        stp     x23, x24, [sp, #32]
        stp     x25, x26, [sp, #48]
        stp     x27, x28, [sp, #64]
        stp     x29, x30, [sp, #80]
        stp     d8, d9, [sp, #96]
        stp     d10, d11, [sp, #112]
        stp     d12, d13, [sp, #128]
        stp     d14, d15, [sp, #144]
        mrs     x9, fpcr
        str     x9, [sp, #160]
        mov     x9, sp
        str     x9, [x0]
        mov     sp, x1
        ldr     x9, [sp, #160]
        msr     fpcr, x9
        ldp     x19, x20, [sp, #0]
        ldp     x21, x22, [sp, #16]
        ldp     x23, x24, [sp, #32]
        ldp     x25, x26, [sp, #48]
        ldp     x27, x28, [sp, #64]
        ldp     x29, x30, [sp, #80]
        ldp     d8, d9, [sp, #96]
        ldp     d10, d11, [sp, #112]
        ldp     d12, d13, [sp, #128]
        ldp     d14, d15, [sp, #144]
        add     sp, sp, #176
        ret
        .size   context_swap, . - context_swap

/* void *context_make(void *stack_top, void (*entry)(void)); */
        .globl  context_make
        .hidden context_make
        .type   context_make, %function
context_make:
        sub     x2, x0, #176
        mov     x3, x2
1:      stp     xzr, xzr, [x3], #16
        cmp     x3, x0
        b.ne    1b
        str     x1, [x2, #88]           /* where context_swap returns to */
        mrs     x9, fpcr
        str     x9, [x2, #160]
        mov     x0, x2
        ret
        .size   context_make, . - context_make
        .section .note.GNU-stack, "", %progbits
