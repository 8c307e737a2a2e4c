/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * The kernel calls of a request with the fewest instructions: libsel4's also set message registers
 * that a message of one word does not have. The kernel returns all registers as they were, but for
 * those of the message and, on x86_64, the stack pointer, which BARE_STACK(NAME) keeps.
 */
#pragma once

#include <sel4/sel4.h>

#define BARE_LENGTH(length) (seL4_MessageInfo_new(0, 0, 0, (length)).words[0])
#define BARE_WORD(name, number) register seL4_Word name __asm__(number)

#if defined(__x86_64__)
#define BARE_0 "r10"
#define BARE_1 "r8"
#define BARE_2 "r9"
#define BARE_3 "r15"
#define BARE_STACK(name)                                                                           \
    seL4_Word name;                                                                                \
    __asm__ volatile("movq %%rsp, %0" : "=r"(name))
#define BARE_ENTER(stack, call, slot, info, ...)                                                   \
    do {                                                                                           \
        seL4_Word bare_slot = (slot), bare_info = (info);                                          \
        __asm__ volatile("syscall\n"                                                               \
                         "movq %[kept], %%rsp"                                                     \
                         : "+D"(bare_slot), "+S"(bare_info), __VA_ARGS__                           \
                         : "d"((seL4_Word)(call)), [kept] "r"(stack)                               \
                         : "rcx", "r11", "memory");                                                \
    } while (0)
#elif defined(__aarch64__)
#define BARE_0 "x2"
#define BARE_1 "x3"
#define BARE_2 "x4"
#define BARE_3 "x5"
#define BARE_STACK(name) const seL4_Word name = 0
#define BARE_ENTER(stack, call, slot, info, ...)                                                   \
    do {                                                                                           \
        BARE_WORD(bare_slot, "x0") = (slot);                                                       \
        BARE_WORD(bare_info, "x1") = (info);                                                       \
        BARE_WORD(bare_number, "x7") = (seL4_Word)(call);                                          \
        (void)(stack);                                                                             \
        __asm__ volatile("svc #0"                                                                  \
                         : "+r"(bare_slot), "+r"(bare_info), __VA_ARGS__                           \
                         : "r"(bare_number)                                                        \
                         : "memory");                                                              \
    } while (0)
#elif defined(__riscv)
#define BARE_0 "a2"
#define BARE_1 "a3"
#define BARE_2 "a4"
#define BARE_3 "a5"
#define BARE_STACK(name) const seL4_Word name = 0
#define BARE_ENTER(stack, call, slot, info, ...)                                                   \
    do {                                                                                           \
        BARE_WORD(bare_slot, "a0") = (slot);                                                       \
        BARE_WORD(bare_info, "a1") = (info);                                                       \
        BARE_WORD(bare_number, "a7") = (seL4_Word)(call);                                          \
        (void)(stack);                                                                             \
        __asm__ volatile("ecall"                                                                   \
                         : "+r"(bare_slot), "+r"(bare_info), __VA_ARGS__                           \
                         : "r"(bare_number)                                                        \
                         : "memory");                                                              \
    } while (0)
#else
#error "no registers are known"
#endif

/* A Call, or a ReplyRecv, with one word in both messages. */
static inline seL4_Word bare_one(seL4_Word stack, seL4_Word call, seL4_Word ep, seL4_Word word)
{
    BARE_WORD(first, BARE_0) = word;
    BARE_ENTER(stack, call, ep, BARE_LENGTH(1), "+r"(first));
    return first;
}

/* A Call with one word, whose reply has four. */
static inline seL4_Word bare_call_four(seL4_Word ep, seL4_Word word, seL4_Word *b, seL4_Word *c,
                                       seL4_Word *d)
{
    BARE_STACK(stack);
    BARE_WORD(first, BARE_0) = word;
    BARE_WORD(second, BARE_1);
    BARE_WORD(third, BARE_2);
    BARE_WORD(fourth, BARE_3);
    BARE_ENTER(stack, seL4_SysCall, ep, BARE_LENGTH(1), "+r"(first), "=&r"(second), "=&r"(third),
               "=&r"(fourth));
    *b = second;
    *c = third;
    *d = fourth;
    return first;
}

/* A reply of four words, and the wait for the next such request. */
static inline void bare_reply_four(seL4_Word stack, seL4_Word ep, seL4_Word a, seL4_Word b,
                                   seL4_Word c, seL4_Word d)
{
    BARE_WORD(first, BARE_0) = a;
    BARE_WORD(second, BARE_1) = b;
    BARE_WORD(third, BARE_2) = c;
    BARE_WORD(fourth, BARE_3) = d;
    BARE_ENTER(stack, seL4_SysReplyRecv, ep, BARE_LENGTH(4), "+r"(first), "+r"(second), "+r"(third),
               "+r"(fourth));
}
