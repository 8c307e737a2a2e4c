/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The kernel operations of the host kernel, with the names and meaning of a non-MCS seL4. */
#pragma once

#include <sel4/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CAMKES_KERNEL_API __attribute__((visibility("default")))

/* Messages. Message registers live in the IPC buffer (seL4_SetMR, seL4_GetMR). */
CAMKES_KERNEL_API seL4_MessageInfo_t seL4_Call(seL4_CPtr dest, seL4_MessageInfo_t info);
CAMKES_KERNEL_API void seL4_Send(seL4_CPtr dest, seL4_MessageInfo_t info);
CAMKES_KERNEL_API void seL4_NBSend(seL4_CPtr dest, seL4_MessageInfo_t info);
CAMKES_KERNEL_API void seL4_Reply(seL4_MessageInfo_t info);
CAMKES_KERNEL_API seL4_MessageInfo_t seL4_Recv(seL4_CPtr src, seL4_Word *badge);
CAMKES_KERNEL_API seL4_MessageInfo_t seL4_NBRecv(seL4_CPtr src, seL4_Word *badge);
CAMKES_KERNEL_API seL4_MessageInfo_t seL4_ReplyRecv(seL4_CPtr src, seL4_MessageInfo_t info,
                                                    seL4_Word *badge);

/* Notifications. */
CAMKES_KERNEL_API void seL4_Signal(seL4_CPtr dest);
CAMKES_KERNEL_API void seL4_Wait(seL4_CPtr src, seL4_Word *badge);
CAMKES_KERNEL_API seL4_MessageInfo_t seL4_Poll(seL4_CPtr src, seL4_Word *badge);

CAMKES_KERNEL_API void seL4_Yield(void);

/* Threads. A priority or maximum may be given up to the maximum of the authority's thread. */
CAMKES_KERNEL_API seL4_Error seL4_TCB_SetPriority(seL4_TCB tcb, seL4_CPtr authority,
                                                  seL4_Word priority);
CAMKES_KERNEL_API seL4_Error seL4_TCB_SetMCPriority(seL4_TCB tcb, seL4_CPtr authority,
                                                    seL4_Word maximum);
CAMKES_KERNEL_API seL4_Error seL4_TCB_SetSchedParams(seL4_TCB tcb, seL4_CPtr authority,
                                                     seL4_Word maximum, seL4_Word priority);
CAMKES_KERNEL_API seL4_Error seL4_TCB_Suspend(seL4_TCB tcb);
CAMKES_KERNEL_API seL4_Error seL4_TCB_Resume(seL4_TCB tcb);

/*
 * Capability spaces. `root` names the caller's own capability space: a capability to it, or
 * seL4_CapNull, which stands for the same here. There is one level, `depth` is up to seL4_WordBits.
 */
CAMKES_KERNEL_API seL4_Error seL4_CNode_SaveCaller(seL4_CNode root, seL4_Word slot,
                                                   seL4_Uint8 depth);
CAMKES_KERNEL_API seL4_Error seL4_CNode_Delete(seL4_CNode root, seL4_Word slot, seL4_Uint8 depth);

CAMKES_KERNEL_API void seL4_DebugPutChar(char character);
CAMKES_KERNEL_API void seL4_DebugPutString(const char *text);
/* ends the whole run */
CAMKES_KERNEL_API void seL4_DebugHalt(void);

/* The IPC buffer of the running thread. */
CAMKES_KERNEL_API seL4_IPCBuffer *seL4_GetIPCBuffer(void);

static inline seL4_Word seL4_GetMR(int i)
{
    return seL4_GetIPCBuffer()->msg[i];
}

static inline void seL4_SetMR(int i, seL4_Word value)
{
    seL4_GetIPCBuffer()->msg[i] = value;
}

static inline seL4_Word seL4_GetUserData(void)
{
    return seL4_GetIPCBuffer()->userData;
}

static inline void seL4_SetUserData(seL4_Word data)
{
    seL4_GetIPCBuffer()->userData = data;
}

static inline seL4_Word seL4_GetBadge(int i)
{
    return seL4_GetIPCBuffer()->caps_or_badges[i];
}

#ifdef __cplusplus
}
#endif
