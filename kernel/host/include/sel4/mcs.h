/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * The operations that only an MCS kernel has, or has in this form. Included by syscalls.h. Times
 * are microseconds. An image that is compiled for one kind of kernel is not one for the other, so
 * the functions that differ in their parameters have other symbols.
 */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

typedef seL4_Uint64 seL4_Time;
typedef seL4_CPtr seL4_SchedContext;
typedef seL4_CPtr seL4_SchedControl;

#define seL4_MinSchedContextBits 7
#define seL4_CoreSchedContextBytes (10 * sizeof(seL4_Word) + (6 * 8))
#define seL4_RefillSizeBytes (2 * 8)

typedef enum {
    seL4_SchedContext_NoFlag = 0,
    seL4_SchedContext_Sporadic = 1,
} seL4_SchedContextFlag;

/* The most `extra_refills` for a context of 2^size bytes. */
static inline seL4_Word seL4_MaxExtraRefills(seL4_Word size)
{
    return (((seL4_Word)1 << size) - seL4_CoreSchedContextBytes) / seL4_RefillSizeBytes;
}

/* Messages. `reply` is the reply object that a call which is received is answered through. */
CAMKES_KERNEL_API seL4_MessageInfo_t seL4_Recv(seL4_CPtr src, seL4_Word *badge,
                                               seL4_CPtr reply) __asm__("camkes_mcs_Recv");
CAMKES_KERNEL_API seL4_MessageInfo_t seL4_NBRecv(seL4_CPtr src, seL4_Word *badge,
                                                 seL4_CPtr reply) __asm__("camkes_mcs_NBRecv");
CAMKES_KERNEL_API seL4_MessageInfo_t
seL4_ReplyRecv(seL4_CPtr src, seL4_MessageInfo_t info, seL4_Word *badge,
               seL4_CPtr reply) __asm__("camkes_mcs_ReplyRecv");
/* `dest` may be a reply object, or an endpoint whose receiver is given the caller's time. */
CAMKES_KERNEL_API seL4_MessageInfo_t seL4_NBSendRecv(seL4_CPtr dest, seL4_MessageInfo_t info,
                                                     seL4_CPtr src, seL4_Word *badge,
                                                     seL4_CPtr reply);
CAMKES_KERNEL_API seL4_MessageInfo_t seL4_NBSendWait(seL4_CPtr dest, seL4_MessageInfo_t info,
                                                     seL4_CPtr src, seL4_Word *badge);
CAMKES_KERNEL_API seL4_MessageInfo_t seL4_Wait(seL4_CPtr src,
                                               seL4_Word *badge) __asm__("camkes_mcs_Wait");
CAMKES_KERNEL_API seL4_MessageInfo_t seL4_NBWait(seL4_CPtr src, seL4_Word *badge);

/* Scheduling contexts. */
typedef struct {
    int error;
    seL4_Time consumed; /* since the last time it was asked for */
} seL4_SchedContext_Consumed_t;
typedef seL4_SchedContext_Consumed_t seL4_SchedContext_YieldTo_t;

CAMKES_KERNEL_API seL4_Error seL4_SchedContext_Bind(seL4_SchedContext context, seL4_CPtr object);
CAMKES_KERNEL_API seL4_Error seL4_SchedContext_Unbind(seL4_SchedContext context);
CAMKES_KERNEL_API seL4_Error seL4_SchedContext_UnbindObject(seL4_SchedContext context,
                                                            seL4_CPtr object);
CAMKES_KERNEL_API seL4_SchedContext_Consumed_t
seL4_SchedContext_Consumed(seL4_SchedContext context);
CAMKES_KERNEL_API seL4_SchedContext_YieldTo_t seL4_SchedContext_YieldTo(seL4_SchedContext context);
CAMKES_KERNEL_API seL4_Error seL4_SchedControl_ConfigureFlags(seL4_SchedControl control,
                                                              seL4_SchedContext context,
                                                              seL4_Time budget, seL4_Time period,
                                                              seL4_Word extra_refills,
                                                              seL4_Word badge, seL4_Word flags);

static inline seL4_Error seL4_SchedControl_Configure(seL4_SchedControl control,
                                                     seL4_SchedContext context, seL4_Time budget,
                                                     seL4_Time period, seL4_Word extra_refills,
                                                     seL4_Word badge)
{
    return seL4_SchedControl_ConfigureFlags(control, context, budget, period, extra_refills, badge,
                                            seL4_SchedContext_NoFlag);
}

/* `context` and `fault_ep` may be seL4_CapNull: then the thread has none. */
CAMKES_KERNEL_API seL4_Error seL4_TCB_SetSchedParams(
    seL4_TCB tcb, seL4_CPtr authority, seL4_Word maximum, seL4_Word priority,
    seL4_SchedContext context, seL4_CPtr fault_ep) __asm__("camkes_mcs_TCB_SetSchedParams");
CAMKES_KERNEL_API seL4_Error seL4_TCB_SetTimeoutEndpoint(seL4_TCB tcb, seL4_CPtr endpoint);

static inline seL4_MessageInfo_t seL4_RecvWithMRs(seL4_CPtr src, seL4_Word *sender, seL4_Word *mr0,
                                                  seL4_Word *mr1, seL4_Word *mr2, seL4_Word *mr3,
                                                  seL4_CPtr reply)
{
    const seL4_MessageInfo_t info = seL4_Recv(src, sender, reply);
    camkes_take_registers(mr0, mr1, mr2, mr3);
    return info;
}

static inline seL4_MessageInfo_t seL4_ReplyRecvWithMRs(seL4_CPtr src, seL4_MessageInfo_t info,
                                                       seL4_Word *sender, seL4_Word *mr0,
                                                       seL4_Word *mr1, seL4_Word *mr2,
                                                       seL4_Word *mr3, seL4_CPtr reply)
{
    camkes_put_registers(mr0, mr1, mr2, mr3);
    info = seL4_ReplyRecv(src, info, sender, reply);
    camkes_take_registers(mr0, mr1, mr2, mr3);
    return info;
}

static inline seL4_MessageInfo_t seL4_NBSendRecvWithMRs(seL4_CPtr dest, seL4_MessageInfo_t info,
                                                        seL4_CPtr src, seL4_Word *sender,
                                                        seL4_Word *mr0, seL4_Word *mr1,
                                                        seL4_Word *mr2, seL4_Word *mr3,
                                                        seL4_CPtr reply)
{
    camkes_put_registers(mr0, mr1, mr2, mr3);
    info = seL4_NBSendRecv(dest, info, src, sender, reply);
    camkes_take_registers(mr0, mr1, mr2, mr3);
    return info;
}

static inline seL4_MessageInfo_t seL4_NBSendWaitWithMRs(seL4_CPtr dest, seL4_MessageInfo_t info,
                                                        seL4_CPtr src, seL4_Word *sender,
                                                        seL4_Word *mr0, seL4_Word *mr1,
                                                        seL4_Word *mr2, seL4_Word *mr3)
{
    camkes_put_registers(mr0, mr1, mr2, mr3);
    info = seL4_NBSendWait(dest, info, src, sender);
    camkes_take_registers(mr0, mr1, mr2, mr3);
    return info;
}

static inline seL4_MessageInfo_t seL4_WaitWithMRs(seL4_CPtr src, seL4_Word *sender, seL4_Word *mr0,
                                                  seL4_Word *mr1, seL4_Word *mr2, seL4_Word *mr3)
{
    const seL4_MessageInfo_t info = seL4_Wait(src, sender);
    camkes_take_registers(mr0, mr1, mr2, mr3);
    return info;
}

#ifdef __cplusplus
}
#endif
