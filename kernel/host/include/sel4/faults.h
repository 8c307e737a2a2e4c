/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Fault messages: the label is the kind of fault, the message registers hold the rest. */
#pragma once

#include <sel4/types.h>

/* 4 is a fault of the debugging API, which there is none of here. */
typedef enum {
    seL4_Fault_NullFault = 0,
#ifdef CONFIG_KERNEL_MCS
    seL4_Fault_Timeout = 5,
    seL4_Fault_VMFault = 6,
#else
    seL4_Fault_VMFault = 5,
#endif
    seL4_Fault_UserException = 3,
    seL4_Fault_CapFault = 1,
    seL4_Fault_UnknownSyscall = 2,
} seL4_FaultType;

enum {
    seL4_CapFault_IP = 0,
    seL4_CapFault_Addr = 1,
    seL4_CapFault_InRecvPhase = 2,
    seL4_CapFault_LookupFailureType = 3,
    seL4_CapFault_BitsLeft = 4,
    seL4_CapFault_GuardMismatch_GuardFound = 5,
    seL4_CapFault_GuardMismatch_BitsFound = 6,
};

enum {
    seL4_VMFault_IP = 0,
    seL4_VMFault_Addr = 1,
    seL4_VMFault_PrefetchFault = 2,
    seL4_VMFault_FSR = 3, /* bit 1: it was a write, as on x86 */
    seL4_VMFault_Length = 4,
};

enum {
    seL4_UserException_FaultIP = 0,
    seL4_UserException_SP = 1,
    seL4_UserException_FLAGS = 2,
    seL4_UserException_Number = 3,
    seL4_UserException_Code = 4,
    seL4_UserException_Length = 5,
};

#ifdef CONFIG_KERNEL_MCS
/* Data is the badge of the scheduling context; consumed is in microseconds. */
typedef enum {
    seL4_Timeout_Data = 0,
    seL4_Timeout_Consumed = 1,
    seL4_Timeout_Length = 2,
} seL4_Timeout_Msg;

static inline seL4_Bool seL4_isTimeoutFault_tag(seL4_MessageInfo_t tag)
{
    return seL4_MessageInfo_get_label(tag) == seL4_Fault_Timeout;
}
#endif

static inline seL4_Bool seL4_isVMFault_tag(seL4_MessageInfo_t tag)
{
    return seL4_MessageInfo_get_label(tag) == seL4_Fault_VMFault;
}

static inline seL4_Bool seL4_isCapFault_tag(seL4_MessageInfo_t tag)
{
    return seL4_MessageInfo_get_label(tag) == seL4_Fault_CapFault;
}

static inline seL4_Bool seL4_isUserException_tag(seL4_MessageInfo_t tag)
{
    return seL4_MessageInfo_get_label(tag) == seL4_Fault_UserException;
}
