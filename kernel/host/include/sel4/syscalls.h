/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The kernel operations of the host kernel, with the names and meaning of seL4's. Those that differ
 * between an MCS kernel and others are in mcs.h and master.h. */
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

/* Notifications. */
CAMKES_KERNEL_API void seL4_Signal(seL4_CPtr dest);
CAMKES_KERNEL_API seL4_MessageInfo_t seL4_Poll(seL4_CPtr src, seL4_Word *badge);

CAMKES_KERNEL_API void seL4_Yield(void);

/* Threads. A priority or maximum may be given up to the maximum of the authority's thread. */
CAMKES_KERNEL_API seL4_Error seL4_TCB_SetPriority(seL4_TCB tcb, seL4_CPtr authority,
                                                  seL4_Word priority);
CAMKES_KERNEL_API seL4_Error seL4_TCB_SetMCPriority(seL4_TCB tcb, seL4_CPtr authority,
                                                    seL4_Word maximum);
CAMKES_KERNEL_API seL4_Error seL4_TCB_Suspend(seL4_TCB tcb);
CAMKES_KERNEL_API seL4_Error seL4_TCB_Resume(seL4_TCB tcb);

/*
 * Capability spaces. `root` names the caller's own capability space: a capability to it, or
 * seL4_CapNull, which means the same here. There is one level, `depth` is up to seL4_WordBits.
 */
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

static inline seL4_CPtr seL4_GetCap(int i)
{
    return (seL4_CPtr)seL4_GetIPCBuffer()->caps_or_badges[i];
}

static inline void seL4_SetCap(int i, seL4_CPtr cap)
{
    seL4_GetIPCBuffer()->caps_or_badges[i] = (seL4_Word)cap;
}

static inline void seL4_GetCapReceivePath(seL4_CPtr *cnode, seL4_CPtr *index, seL4_Word *depth)
{
    const seL4_IPCBuffer *buffer = seL4_GetIPCBuffer();
    if (cnode != seL4_Null) {
        *cnode = buffer->receiveCNode;
    }
    if (index != seL4_Null) {
        *index = buffer->receiveIndex;
    }
    if (depth != seL4_Null) {
        *depth = buffer->receiveDepth;
    }
}

static inline void seL4_SetCapReceivePath(seL4_CPtr cnode, seL4_CPtr index, seL4_Word depth)
{
    seL4_IPCBuffer *buffer = seL4_GetIPCBuffer();
    buffer->receiveCNode = cnode;
    buffer->receiveIndex = index;
    buffer->receiveDepth = depth;
}

/* Threads have their names from the boot table. */
static inline void seL4_DebugNameThread(seL4_CPtr tcb, const char *name)
{
    (void)tcb;
    (void)name;
}

/*
 * The same operations with the first message registers as arguments, each of which may be NULL:
 * then it is not set, or dropped. Those of an operation that sends and receives are for both.
 */
static inline void camkes_put_registers(const seL4_Word *mr0, const seL4_Word *mr1,
                                        const seL4_Word *mr2, const seL4_Word *mr3)
{
    const seL4_Word *registers[] = {mr0, mr1, mr2, mr3};
    for (int i = 0; i < 4; i++) {
        if (registers[i] != seL4_Null) {
            seL4_SetMR(i, *registers[i]);
        }
    }
}

static inline void camkes_take_registers(seL4_Word *mr0, seL4_Word *mr1, seL4_Word *mr2,
                                         seL4_Word *mr3)
{
    seL4_Word *registers[] = {mr0, mr1, mr2, mr3};
    for (int i = 0; i < 4; i++) {
        if (registers[i] != seL4_Null) {
            *registers[i] = seL4_GetMR(i);
        }
    }
}

static inline void seL4_SendWithMRs(seL4_CPtr dest, seL4_MessageInfo_t info, seL4_Word *mr0,
                                    seL4_Word *mr1, seL4_Word *mr2, seL4_Word *mr3)
{
    camkes_put_registers(mr0, mr1, mr2, mr3);
    seL4_Send(dest, info);
}

static inline void seL4_NBSendWithMRs(seL4_CPtr dest, seL4_MessageInfo_t info, seL4_Word *mr0,
                                      seL4_Word *mr1, seL4_Word *mr2, seL4_Word *mr3)
{
    camkes_put_registers(mr0, mr1, mr2, mr3);
    seL4_NBSend(dest, info);
}

static inline seL4_MessageInfo_t seL4_CallWithMRs(seL4_CPtr dest, seL4_MessageInfo_t info,
                                                  seL4_Word *mr0, seL4_Word *mr1, seL4_Word *mr2,
                                                  seL4_Word *mr3)
{
    camkes_put_registers(mr0, mr1, mr2, mr3);
    info = seL4_Call(dest, info);
    camkes_take_registers(mr0, mr1, mr2, mr3);
    return info;
}

#ifdef __cplusplus
}
#endif

#ifdef CONFIG_KERNEL_MCS
#include <sel4/mcs.h>
#else
#include <sel4/master.h>
#endif
