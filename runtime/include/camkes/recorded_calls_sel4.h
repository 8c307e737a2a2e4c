/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * In an image that is recorded: each kernel call of a thread makes a record before it, and one that
 * can block makes another when the thread runs again. From these the workstation finds when threads
 * were switched (camkes/backends/sel4/switches.py). The functions have the names of those of
 * libsel4 for what includes this header.
 */
#pragma once

#include <sel4/sel4.h>
#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif

/* `operation` is one of enum camkes_kcall, `slot` what it is about; the rest depends on it. */
void camkes_sel4_enters(unsigned operation, seL4_CPtr slot, seL4_Word word, seL4_Word second,
                        seL4_Word third);
void camkes_sel4_returns(void);
void camkes_sel4_failed(void);

/* An operation without an effect. */
static inline void camkes_sel4_fails(seL4_Error error)
{
    if (error != seL4_NoError) {
        camkes_sel4_failed();
    }
}

#if defined(__cplusplus)
}
#endif

#if !defined(CAMKES_SEL4_CALLS_NOT_RECORDED)

/* Of enum camkes_kcall; what a CONTEXT, a CNODE and a REGISTERS does is `third`. */
enum {
    CAMKES_SEL4_UNBINDS = 0,
    CAMKES_SEL4_BINDS = 1,
    CAMKES_SEL4_UNBINDS_OBJECT = 2,
    CAMKES_SEL4_DELETES = 3,
    CAMKES_SEL4_BINDS_NOTIFICATION = 4,
    CAMKES_SEL4_LOOKS = 5,
    CAMKES_SEL4_RESUMES = 6,
};

#define CAMKES_RECORDED static inline __attribute__((always_inline))

CAMKES_RECORDED seL4_MessageInfo_t camkes_recorded_Call(seL4_CPtr to, seL4_MessageInfo_t info)
{
    camkes_sel4_enters(CAMKES_KCALL_CALL, to, info.words[0], 0, 0);
    const seL4_MessageInfo_t result = seL4_Call(to, info);
    camkes_sel4_returns();
    return result;
}
#define seL4_Call camkes_recorded_Call

CAMKES_RECORDED void camkes_recorded_Send(seL4_CPtr to, seL4_MessageInfo_t info)
{
    camkes_sel4_enters(CAMKES_KCALL_SEND, to, info.words[0], 0, 0);
    seL4_Send(to, info);
    camkes_sel4_returns();
}
#define seL4_Send camkes_recorded_Send

CAMKES_RECORDED void camkes_recorded_NBSend(seL4_CPtr to, seL4_MessageInfo_t info)
{
    camkes_sel4_enters(CAMKES_KCALL_NBSEND, to, info.words[0], 0, 0);
    seL4_NBSend(to, info);
}
#define seL4_NBSend camkes_recorded_NBSend

CAMKES_RECORDED void camkes_recorded_Signal(seL4_CPtr to)
{
    camkes_sel4_enters(CAMKES_KCALL_SIGNAL, to, 0, 0, 0);
    seL4_Signal(to);
}
#define seL4_Signal camkes_recorded_Signal

CAMKES_RECORDED seL4_MessageInfo_t camkes_recorded_Poll(seL4_CPtr from, seL4_Word *badge)
{
    camkes_sel4_enters(CAMKES_KCALL_POLL, from, 0, 0, 0);
    return seL4_Poll(from, badge);
}
#define seL4_Poll camkes_recorded_Poll

CAMKES_RECORDED void camkes_recorded_Yield(void)
{
    camkes_sel4_enters(CAMKES_KCALL_YIELD, 0, 0, 0, 0);
    seL4_Yield();
}
#define seL4_Yield camkes_recorded_Yield

CAMKES_RECORDED seL4_Error camkes_recorded_TCB_SetPriority(seL4_CPtr tcb, seL4_CPtr authority,
                                                           seL4_Word priority)
{
    camkes_sel4_enters(CAMKES_KCALL_SETPRIORITY, tcb, priority, 0, 0);
    const seL4_Error error = seL4_TCB_SetPriority(tcb, authority, priority);
    camkes_sel4_fails(error);
    return error;
}
#define seL4_TCB_SetPriority camkes_recorded_TCB_SetPriority

CAMKES_RECORDED seL4_Error camkes_recorded_TCB_Suspend(seL4_CPtr tcb)
{
    camkes_sel4_enters(CAMKES_KCALL_SUSPEND, tcb, 0, 0, 0);
    const seL4_Error error = seL4_TCB_Suspend(tcb);
    camkes_sel4_fails(error);
    return error;
}
#define seL4_TCB_Suspend camkes_recorded_TCB_Suspend

CAMKES_RECORDED seL4_Error camkes_recorded_TCB_WriteRegisters(seL4_CPtr tcb, seL4_Bool resumes,
                                                              seL4_Uint8 flags, seL4_Word count,
                                                              seL4_UserContext *registers)
{
    camkes_sel4_enters(CAMKES_KCALL_REGISTERS, tcb, 0, 0,
                       resumes ? CAMKES_SEL4_RESUMES : CAMKES_SEL4_LOOKS);
    const seL4_Error error = seL4_TCB_WriteRegisters(tcb, resumes, flags, count, registers);
    camkes_sel4_fails(error);
    return error;
}
#define seL4_TCB_WriteRegisters camkes_recorded_TCB_WriteRegisters

CAMKES_RECORDED seL4_Error camkes_recorded_TCB_BindNotification(seL4_CPtr tcb,
                                                                seL4_CPtr notification)
{
    camkes_sel4_enters(CAMKES_KCALL_CNODE, tcb, notification, 0, CAMKES_SEL4_BINDS_NOTIFICATION);
    const seL4_Error error = seL4_TCB_BindNotification(tcb, notification);
    camkes_sel4_fails(error);
    return error;
}
#define seL4_TCB_BindNotification camkes_recorded_TCB_BindNotification

CAMKES_RECORDED seL4_Error camkes_recorded_CNode_Delete(seL4_CPtr node, seL4_Word slot,
                                                        seL4_Uint8 depth)
{
    camkes_sel4_enters(CAMKES_KCALL_CNODE, slot, 0, 0, CAMKES_SEL4_DELETES);
    const seL4_Error error = seL4_CNode_Delete(node, slot, depth);
    camkes_sel4_fails(error);
    return error;
}
#define seL4_CNode_Delete camkes_recorded_CNode_Delete

#if defined(CONFIG_KERNEL_MCS)

CAMKES_RECORDED seL4_MessageInfo_t camkes_recorded_Recv(seL4_CPtr from, seL4_Word *badge,
                                                        seL4_CPtr reply)
{
    camkes_sel4_enters(CAMKES_KCALL_RECV, from, 0, reply, 0);
    const seL4_MessageInfo_t result = seL4_Recv(from, badge, reply);
    camkes_sel4_returns();
    return result;
}
#define seL4_Recv camkes_recorded_Recv

CAMKES_RECORDED seL4_MessageInfo_t camkes_recorded_Wait(seL4_CPtr from, seL4_Word *badge)
{
    camkes_sel4_enters(CAMKES_KCALL_WAIT, from, 0, 0, 0);
    const seL4_MessageInfo_t result = seL4_Wait(from, badge);
    camkes_sel4_returns();
    return result;
}
#define seL4_Wait camkes_recorded_Wait

CAMKES_RECORDED seL4_MessageInfo_t camkes_recorded_NBRecv(seL4_CPtr from, seL4_Word *badge,
                                                          seL4_CPtr reply)
{
    camkes_sel4_enters(CAMKES_KCALL_NBRECV, from, 0, reply, 0);
    return seL4_NBRecv(from, badge, reply);
}
#define seL4_NBRecv camkes_recorded_NBRecv

CAMKES_RECORDED seL4_MessageInfo_t camkes_recorded_ReplyRecv(seL4_CPtr from,
                                                             seL4_MessageInfo_t info,
                                                             seL4_Word *badge, seL4_CPtr reply)
{
    camkes_sel4_enters(CAMKES_KCALL_REPLYRECV, from, info.words[0], reply, 0);
    const seL4_MessageInfo_t result = seL4_ReplyRecv(from, info, badge, reply);
    camkes_sel4_returns();
    return result;
}
#define seL4_ReplyRecv camkes_recorded_ReplyRecv

CAMKES_RECORDED seL4_MessageInfo_t camkes_recorded_NBSendRecv(seL4_CPtr to, seL4_MessageInfo_t info,
                                                              seL4_CPtr from, seL4_Word *badge,
                                                              seL4_CPtr reply)
{
    camkes_sel4_enters(CAMKES_KCALL_NBSENDRECV, to, info.words[0], reply, from);
    const seL4_MessageInfo_t result = seL4_NBSendRecv(to, info, from, badge, reply);
    camkes_sel4_returns();
    return result;
}
#define seL4_NBSendRecv camkes_recorded_NBSendRecv

CAMKES_RECORDED seL4_Error camkes_recorded_TCB_SetTimeoutEndpoint(seL4_CPtr tcb, seL4_CPtr endpoint)
{
    camkes_sel4_enters(CAMKES_KCALL_SETTIMEOUT, tcb, endpoint, 0, 0);
    const seL4_Error error = seL4_TCB_SetTimeoutEndpoint(tcb, endpoint);
    camkes_sel4_fails(error);
    return error;
}
#define seL4_TCB_SetTimeoutEndpoint camkes_recorded_TCB_SetTimeoutEndpoint

CAMKES_RECORDED seL4_Error camkes_recorded_SchedContext_Bind(seL4_CPtr context, seL4_CPtr holder)
{
    camkes_sel4_enters(CAMKES_KCALL_CONTEXT, context, holder, 0, CAMKES_SEL4_BINDS);
    const seL4_Error error = seL4_SchedContext_Bind(context, holder);
    camkes_sel4_fails(error);
    return error;
}
#define seL4_SchedContext_Bind camkes_recorded_SchedContext_Bind

CAMKES_RECORDED seL4_Error camkes_recorded_SchedContext_Unbind(seL4_CPtr context)
{
    camkes_sel4_enters(CAMKES_KCALL_CONTEXT, context, 0, 0, CAMKES_SEL4_UNBINDS);
    const seL4_Error error = seL4_SchedContext_Unbind(context);
    camkes_sel4_fails(error);
    return error;
}
#define seL4_SchedContext_Unbind camkes_recorded_SchedContext_Unbind

CAMKES_RECORDED seL4_Error camkes_recorded_SchedContext_UnbindObject(seL4_CPtr context,
                                                                     seL4_CPtr holder)
{
    camkes_sel4_enters(CAMKES_KCALL_CONTEXT, context, holder, 0, CAMKES_SEL4_UNBINDS_OBJECT);
    const seL4_Error error = seL4_SchedContext_UnbindObject(context, holder);
    camkes_sel4_fails(error);
    return error;
}
#define seL4_SchedContext_UnbindObject camkes_recorded_SchedContext_UnbindObject

CAMKES_RECORDED seL4_Error camkes_recorded_SchedControl_ConfigureFlags(
    seL4_CPtr control, seL4_CPtr context, seL4_Time budget, seL4_Time period, seL4_Word refills,
    seL4_Word data, seL4_Word flags)
{
    camkes_sel4_enters(CAMKES_KCALL_CONFIGURE, context, (seL4_Word)budget, (seL4_Word)period,
                       refills << 1 | (flags & seL4_SchedContext_Sporadic));
    const seL4_Error error =
        seL4_SchedControl_ConfigureFlags(control, context, budget, period, refills, data, flags);
    camkes_sel4_fails(error);
    return error;
}
#define seL4_SchedControl_ConfigureFlags camkes_recorded_SchedControl_ConfigureFlags

#else

CAMKES_RECORDED seL4_MessageInfo_t camkes_recorded_Recv(seL4_CPtr from, seL4_Word *badge)
{
    camkes_sel4_enters(CAMKES_KCALL_RECV, from, 0, 0, 0);
    const seL4_MessageInfo_t result = seL4_Recv(from, badge);
    camkes_sel4_returns();
    return result;
}
#define seL4_Recv camkes_recorded_Recv

CAMKES_RECORDED void camkes_recorded_Wait(seL4_CPtr from, seL4_Word *badge)
{
    camkes_sel4_enters(CAMKES_KCALL_WAIT, from, 0, 0, 0);
    seL4_Wait(from, badge);
    camkes_sel4_returns();
}
#define seL4_Wait camkes_recorded_Wait

CAMKES_RECORDED seL4_MessageInfo_t camkes_recorded_NBRecv(seL4_CPtr from, seL4_Word *badge)
{
    camkes_sel4_enters(CAMKES_KCALL_NBRECV, from, 0, 0, 0);
    return seL4_NBRecv(from, badge);
}
#define seL4_NBRecv camkes_recorded_NBRecv

CAMKES_RECORDED void camkes_recorded_Reply(seL4_MessageInfo_t info)
{
    camkes_sel4_enters(CAMKES_KCALL_REPLY, 0, info.words[0], 0, 0);
    seL4_Reply(info);
}
#define seL4_Reply camkes_recorded_Reply

CAMKES_RECORDED seL4_MessageInfo_t camkes_recorded_ReplyRecv(seL4_CPtr from,
                                                             seL4_MessageInfo_t info,
                                                             seL4_Word *badge)
{
    camkes_sel4_enters(CAMKES_KCALL_REPLYRECV, from, info.words[0], 0, 0);
    const seL4_MessageInfo_t result = seL4_ReplyRecv(from, info, badge);
    camkes_sel4_returns();
    return result;
}
#define seL4_ReplyRecv camkes_recorded_ReplyRecv

CAMKES_RECORDED seL4_Error camkes_recorded_CNode_SaveCaller(seL4_CPtr node, seL4_Word slot,
                                                            seL4_Uint8 depth)
{
    camkes_sel4_enters(CAMKES_KCALL_SAVECALLER, slot, 0, 0, 0);
    const seL4_Error error = seL4_CNode_SaveCaller(node, slot, depth);
    camkes_sel4_fails(error);
    return error;
}
#define seL4_CNode_SaveCaller camkes_recorded_CNode_SaveCaller

#endif

#if seL4_FastMessageRegisters == 4 || defined(CONFIG_ARCH_RISCV)

CAMKES_RECORDED seL4_MessageInfo_t camkes_recorded_CallWithMRs(seL4_CPtr to,
                                                               seL4_MessageInfo_t info,
                                                               seL4_Word *a, seL4_Word *b,
                                                               seL4_Word *c, seL4_Word *d)
{
    camkes_sel4_enters(CAMKES_KCALL_CALL, to, info.words[0], 0, 0);
    const seL4_MessageInfo_t result = seL4_CallWithMRs(to, info, a, b, c, d);
    camkes_sel4_returns();
    return result;
}
#define seL4_CallWithMRs camkes_recorded_CallWithMRs

#if defined(CONFIG_KERNEL_MCS)

CAMKES_RECORDED seL4_MessageInfo_t camkes_recorded_ReplyRecvWithMRs(seL4_CPtr from,
                                                                    seL4_MessageInfo_t info,
                                                                    seL4_Word *badge, seL4_Word *a,
                                                                    seL4_Word *b, seL4_Word *c,
                                                                    seL4_Word *d, seL4_CPtr reply)
{
    camkes_sel4_enters(CAMKES_KCALL_REPLYRECV, from, info.words[0], reply, 0);
    const seL4_MessageInfo_t result = seL4_ReplyRecvWithMRs(from, info, badge, a, b, c, d, reply);
    camkes_sel4_returns();
    return result;
}
#define seL4_ReplyRecvWithMRs camkes_recorded_ReplyRecvWithMRs

#else

CAMKES_RECORDED seL4_MessageInfo_t camkes_recorded_RecvWithMRs(seL4_CPtr from, seL4_Word *badge,
                                                               seL4_Word *a, seL4_Word *b,
                                                               seL4_Word *c, seL4_Word *d)
{
    camkes_sel4_enters(CAMKES_KCALL_RECV, from, 0, 0, 0);
    const seL4_MessageInfo_t result = seL4_RecvWithMRs(from, badge, a, b, c, d);
    camkes_sel4_returns();
    return result;
}
#define seL4_RecvWithMRs camkes_recorded_RecvWithMRs

CAMKES_RECORDED seL4_MessageInfo_t camkes_recorded_ReplyRecvWithMRs(seL4_CPtr from,
                                                                    seL4_MessageInfo_t info,
                                                                    seL4_Word *badge, seL4_Word *a,
                                                                    seL4_Word *b, seL4_Word *c,
                                                                    seL4_Word *d)
{
    camkes_sel4_enters(CAMKES_KCALL_REPLYRECV, from, info.words[0], 0, 0);
    const seL4_MessageInfo_t result = seL4_ReplyRecvWithMRs(from, info, badge, a, b, c, d);
    camkes_sel4_returns();
    return result;
}
#define seL4_ReplyRecvWithMRs camkes_recorded_ReplyRecvWithMRs

#endif

#endif

#undef CAMKES_RECORDED

#endif
