/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * The part of seL4's API that requests use, with kernel calls as seL4 has them on x86_64: compilers
 * make the same code around them. The instruction `syscall` is never executed, see ../count.c.
 */
#pragma once

#include <sel4/types.h>

#define seL4_FastMessageRegisters 4
#define SEL4_CALL ((seL4_Word) - 1)
#define SEL4_REPLY_RECV ((seL4_Word) - 2)
#define SEL4_SEND ((seL4_Word) - 3)
#define SEL4_RECV ((seL4_Word) - 5)

extern __thread seL4_IPCBuffer *fast_path_buffer;

static inline seL4_IPCBuffer *seL4_GetIPCBuffer(void)
{
    return fast_path_buffer;
}

static inline seL4_Word seL4_GetMR(int index)
{
    return fast_path_buffer->msg[index];
}

static inline void seL4_SetMR(int index, seL4_Word word)
{
    fast_path_buffer->msg[index] = word;
}

static inline seL4_MessageInfo_t fast_path_enter(seL4_Word number, seL4_CPtr slot,
                                                 seL4_MessageInfo_t info, seL4_Word *badge,
                                                 seL4_Word *word0, seL4_Word *word1,
                                                 seL4_Word *word2, seL4_Word *word3)
{
    register seL4_Word first __asm__("r10") = word0 != NULL ? *word0 : 0;
    register seL4_Word second __asm__("r8") = word1 != NULL ? *word1 : 0;
    register seL4_Word third __asm__("r9") = word2 != NULL ? *word2 : 0;
    register seL4_Word fourth __asm__("r15") = word3 != NULL ? *word3 : 0;
    __asm__ volatile("movq %%rsp, %%rbx\n"
                     "syscall\n"
                     "movq %%rbx, %%rsp"
                     : "+D"(slot), "+S"(info.words[0]), "+r"(first), "+r"(second), "+r"(third),
                       "+r"(fourth)
                     : "d"(number)
                     : "rbx", "rcx", "r11", "memory");
    if (number == SEL4_RECV) { /* as seL4's has other operands: compilers make two of these */
        __asm__ volatile("# received");
    }
    if (badge != NULL) {
        *badge = slot;
    }
    if (word0 != NULL) {
        *word0 = first;
    }
    if (word1 != NULL) {
        *word1 = second;
    }
    if (word2 != NULL) {
        *word2 = third;
    }
    if (word3 != NULL) {
        *word3 = fourth;
    }
    return info;
}

static inline seL4_MessageInfo_t seL4_CallWithMRs(seL4_CPtr slot, seL4_MessageInfo_t info,
                                                  seL4_Word *word0, seL4_Word *word1,
                                                  seL4_Word *word2, seL4_Word *word3)
{
    return fast_path_enter(SEL4_CALL, slot, info, NULL, word0, word1, word2, word3);
}

static inline seL4_MessageInfo_t seL4_ReplyRecvWithMRs(seL4_CPtr slot, seL4_MessageInfo_t info,
                                                       seL4_Word *badge, seL4_Word *word0,
                                                       seL4_Word *word1, seL4_Word *word2,
                                                       seL4_Word *word3)
{
    return fast_path_enter(SEL4_REPLY_RECV, slot, info, badge, word0, word1, word2, word3);
}

static inline seL4_MessageInfo_t fast_path_enter_buffer(seL4_Word number, seL4_CPtr slot,
                                                        seL4_MessageInfo_t info, seL4_Word *badge)
{
    seL4_Word *const words = fast_path_buffer->msg;
    return fast_path_enter(number, slot, info, badge, &words[0], &words[1], &words[2], &words[3]);
}

static inline seL4_MessageInfo_t seL4_Call(seL4_CPtr slot, seL4_MessageInfo_t info)
{
    return fast_path_enter_buffer(SEL4_CALL, slot, info, NULL);
}

static inline seL4_MessageInfo_t seL4_ReplyRecv(seL4_CPtr slot, seL4_MessageInfo_t info,
                                                seL4_Word *badge)
{
    return fast_path_enter_buffer(SEL4_REPLY_RECV, slot, info, badge);
}

static inline seL4_MessageInfo_t seL4_Recv(seL4_CPtr slot, seL4_Word *badge)
{
    return fast_path_enter_buffer(SEL4_RECV, slot, seL4_MessageInfo_new(0, 0, 0, 0), badge);
}

static inline seL4_MessageInfo_t seL4_RecvWithMRs(seL4_CPtr slot, seL4_Word *badge,
                                                  seL4_Word *word0, seL4_Word *word1,
                                                  seL4_Word *word2, seL4_Word *word3)
{
    return fast_path_enter(SEL4_RECV, slot, seL4_MessageInfo_new(0, 0, 0, 0), badge, word0, word1,
                           word2, word3);
}

static inline void seL4_Send(seL4_CPtr slot, seL4_MessageInfo_t info)
{
    (void)fast_path_enter(SEL4_SEND, slot, info, NULL, NULL, NULL, NULL, NULL);
}

static inline void seL4_Wait(seL4_CPtr slot, seL4_Word *badge)
{
    (void)seL4_Recv(slot, badge);
}

static inline seL4_Error seL4_TCB_SetPriority(seL4_CPtr tcb, seL4_CPtr authority, seL4_Word word)
{
    seL4_SetMR(0, authority + word);
    return (seL4_Error)seL4_MessageInfo_get_label(seL4_Call(tcb, seL4_MessageInfo_new(0, 0, 0, 1)));
}

static inline void seL4_Signal(seL4_CPtr slot)
{
    seL4_Send(slot, seL4_MessageInfo_new(0, 0, 0, 0));
}

void seL4_Yield(void);
