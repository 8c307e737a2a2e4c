/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The operations that only a kernel without MCS has, or has in this form. Included by syscalls.h.
 */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

CAMKES_KERNEL_API void seL4_Reply(seL4_MessageInfo_t info);
CAMKES_KERNEL_API seL4_MessageInfo_t seL4_Recv(seL4_CPtr src, seL4_Word *badge);
CAMKES_KERNEL_API seL4_MessageInfo_t seL4_NBRecv(seL4_CPtr src, seL4_Word *badge);
CAMKES_KERNEL_API seL4_MessageInfo_t seL4_ReplyRecv(seL4_CPtr src, seL4_MessageInfo_t info,
                                                    seL4_Word *badge);
CAMKES_KERNEL_API void seL4_Wait(seL4_CPtr src, seL4_Word *badge);
CAMKES_KERNEL_API seL4_Error seL4_TCB_SetSchedParams(seL4_TCB tcb, seL4_CPtr authority,
                                                     seL4_Word maximum, seL4_Word priority);
CAMKES_KERNEL_API seL4_Error seL4_CNode_SaveCaller(seL4_CNode root, seL4_Word slot,
                                                   seL4_Uint8 depth);

static inline void seL4_ReplyWithMRs(seL4_MessageInfo_t info, seL4_Word *mr0, seL4_Word *mr1,
                                     seL4_Word *mr2, seL4_Word *mr3)
{
    camkes_put_registers(mr0, mr1, mr2, mr3);
    seL4_Reply(info);
}

static inline seL4_MessageInfo_t seL4_RecvWithMRs(seL4_CPtr src, seL4_Word *sender, seL4_Word *mr0,
                                                  seL4_Word *mr1, seL4_Word *mr2, seL4_Word *mr3)
{
    const seL4_MessageInfo_t info = seL4_Recv(src, sender);
    camkes_take_registers(mr0, mr1, mr2, mr3);
    return info;
}

static inline seL4_MessageInfo_t seL4_ReplyRecvWithMRs(seL4_CPtr src, seL4_MessageInfo_t info,
                                                       seL4_Word *sender, seL4_Word *mr0,
                                                       seL4_Word *mr1, seL4_Word *mr2,
                                                       seL4_Word *mr3)
{
    camkes_put_registers(mr0, mr1, mr2, mr3);
    info = seL4_ReplyRecv(src, info, sender);
    camkes_take_registers(mr0, mr1, mr2, mr3);
    return info;
}

#ifdef __cplusplus
}
#endif
