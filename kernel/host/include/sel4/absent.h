/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * The functions of seL4's user library that the host kernel does not have, on x86_64 and aarch64. A
 * call of one is an error of the compiler at that line, with the reason; their types do not matter.
 */
#pragma once

#ifdef __cplusplus
extern "C" {
#define CAMKES_ANY_ARGUMENTS ...
#else
#define CAMKES_ANY_ARGUMENTS
#endif
/* With Clang, `error` is not for calls with arguments of functions without a prototype. */
#ifdef __clang__
#define CAMKES_ERROR(why) diagnose_if(1, why, "error")
#else
#define CAMKES_ERROR(why) error(why)
#endif
#define CAMKES_ABSENT(name, why)                                                                   \
    unsigned long seL4_##name(CAMKES_ANY_ARGUMENTS) __attribute__((CAMKES_ERROR(why)));
#define CAMKES_ABSENT_MCS(name)                                                                    \
    CAMKES_ABSENT(name, "the host kernel is not an MCS kernel here: no scheduling contexts, no "   \
                        "reply objects (-DKernelIsMCS=ON)")
#define CAMKES_ABSENT_MASTER(name)                                                                 \
    CAMKES_ABSENT(name, "an MCS kernel does not have this: a call is answered through a reply "    \
                        "object")
#define CAMKES_ABSENT_MACHINE(name)                                                                \
    CAMKES_ABSENT(name, "the host kernel has no devices, page tables or virtual machines")
#define CAMKES_ABSENT_BENCHMARK(name)                                                              \
    CAMKES_ABSENT(name, "the host kernel cannot measure: its time is virtual (camkes_now())")
#define CAMKES_ABSENT_OTHER(name)                                                                  \
    CAMKES_ABSENT(name, "the host kernel does not have this operation: capabilities and threads "  \
                        "stay as the build made them")

/* clang-format off */
#ifdef CONFIG_KERNEL_MCS
CAMKES_ABSENT_MASTER(CNode_SaveCaller)
CAMKES_ABSENT_MASTER(Reply)
CAMKES_ABSENT_MASTER(ReplyWithMRs)
#else
CAMKES_ABSENT_MCS(NBSendRecv)
CAMKES_ABSENT_MCS(NBSendRecvWithMRs)
CAMKES_ABSENT_MCS(NBSendWait)
CAMKES_ABSENT_MCS(NBSendWaitWithMRs)
CAMKES_ABSENT_MCS(NBWait)
CAMKES_ABSENT_MCS(SchedContext_Bind)
CAMKES_ABSENT_MCS(SchedContext_Consumed)
CAMKES_ABSENT_MCS(SchedContext_Unbind)
CAMKES_ABSENT_MCS(SchedContext_UnbindObject)
CAMKES_ABSENT_MCS(SchedContext_YieldTo)
CAMKES_ABSENT_MCS(SchedControl_ConfigureFlags)
CAMKES_ABSENT_MCS(TCB_SetTimeoutEndpoint)
CAMKES_ABSENT_MCS(WaitWithMRs)
#endif
CAMKES_ABSENT_MACHINE(ARM_ASIDControl_MakePool)
CAMKES_ABSENT_MACHINE(ARM_ASIDPool_Assign)
CAMKES_ABSENT_MACHINE(ARM_CBControl_GetCB)
CAMKES_ABSENT_MACHINE(ARM_CBControl_TLBInvalidateAll)
CAMKES_ABSENT_MACHINE(ARM_CB_AssignVspace)
CAMKES_ABSENT_MACHINE(ARM_CB_CBClearFault)
CAMKES_ABSENT_MACHINE(ARM_CB_CBGetFault)
CAMKES_ABSENT_MACHINE(ARM_CB_TLBInvalidate)
CAMKES_ABSENT_MACHINE(ARM_CB_UnassignVspace)
CAMKES_ABSENT_MACHINE(ARM_IOPageTable_Map)
CAMKES_ABSENT_MACHINE(ARM_IOPageTable_Unmap)
CAMKES_ABSENT_MACHINE(ARM_PageTable_Map)
CAMKES_ABSENT_MACHINE(ARM_PageTable_Unmap)
CAMKES_ABSENT_MACHINE(ARM_Page_CleanInvalidate_Data)
CAMKES_ABSENT_MACHINE(ARM_Page_Clean_Data)
CAMKES_ABSENT_MACHINE(ARM_Page_GetAddress)
CAMKES_ABSENT_MACHINE(ARM_Page_Invalidate_Data)
CAMKES_ABSENT_MACHINE(ARM_Page_Map)
CAMKES_ABSENT_MACHINE(ARM_Page_MapIO)
CAMKES_ABSENT_MACHINE(ARM_Page_Unify_Instruction)
CAMKES_ABSENT_MACHINE(ARM_Page_Unmap)
CAMKES_ABSENT_MACHINE(ARM_SIDControl_ClearFault)
CAMKES_ABSENT_MACHINE(ARM_SIDControl_GetFault)
CAMKES_ABSENT_MACHINE(ARM_SIDControl_GetSID)
CAMKES_ABSENT_MACHINE(ARM_SID_BindCB)
CAMKES_ABSENT_MACHINE(ARM_SID_UnbindCB)
CAMKES_ABSENT_MACHINE(ARM_SMC_Call)
CAMKES_ABSENT_MACHINE(ARM_VCPU_AckVPPI)
CAMKES_ABSENT_MACHINE(ARM_VCPU_InjectIRQ)
CAMKES_ABSENT_MACHINE(ARM_VCPU_ReadRegs)
CAMKES_ABSENT_MACHINE(ARM_VCPU_SetTCB)
CAMKES_ABSENT_MACHINE(ARM_VCPU_WriteRegs)
CAMKES_ABSENT_MACHINE(ARM_VSpace_CleanInvalidate_Data)
CAMKES_ABSENT_MACHINE(ARM_VSpace_Clean_Data)
CAMKES_ABSENT_MACHINE(ARM_VSpace_Invalidate_Data)
CAMKES_ABSENT_MACHINE(ARM_VSpace_Unify_Instruction)
CAMKES_ABSENT_MACHINE(IRQControl_Get)
CAMKES_ABSENT_MACHINE(IRQControl_GetIOAPIC)
CAMKES_ABSENT_MACHINE(IRQControl_GetMSI)
CAMKES_ABSENT_MACHINE(IRQControl_GetTrigger)
CAMKES_ABSENT_MACHINE(IRQControl_GetTriggerCore)
CAMKES_ABSENT_MACHINE(IRQControl_IssueSGISignal)
CAMKES_ABSENT_MACHINE(IRQHandler_Ack)
CAMKES_ABSENT_MACHINE(IRQHandler_Clear)
CAMKES_ABSENT_MACHINE(IRQHandler_SetNotification)
CAMKES_ABSENT_MACHINE(TCB_SetEPTRoot)
CAMKES_ABSENT_MACHINE(VMEnter)
CAMKES_ABSENT_MACHINE(X86DangerousRDMSR)
CAMKES_ABSENT_MACHINE(X86DangerousWRMSR)
CAMKES_ABSENT_MACHINE(X86_ASIDControl_MakePool)
CAMKES_ABSENT_MACHINE(X86_ASIDPool_Assign)
CAMKES_ABSENT_MACHINE(X86_EPTPDPT_Map)
CAMKES_ABSENT_MACHINE(X86_EPTPDPT_Unmap)
CAMKES_ABSENT_MACHINE(X86_EPTPD_Map)
CAMKES_ABSENT_MACHINE(X86_EPTPD_Unmap)
CAMKES_ABSENT_MACHINE(X86_EPTPT_Map)
CAMKES_ABSENT_MACHINE(X86_EPTPT_Unmap)
CAMKES_ABSENT_MACHINE(X86_IOPageTable_Map)
CAMKES_ABSENT_MACHINE(X86_IOPageTable_Unmap)
CAMKES_ABSENT_MACHINE(X86_IOPortControl_Issue)
CAMKES_ABSENT_MACHINE(X86_IOPort_In16)
CAMKES_ABSENT_MACHINE(X86_IOPort_In32)
CAMKES_ABSENT_MACHINE(X86_IOPort_In8)
CAMKES_ABSENT_MACHINE(X86_IOPort_Out16)
CAMKES_ABSENT_MACHINE(X86_IOPort_Out32)
CAMKES_ABSENT_MACHINE(X86_IOPort_Out8)
CAMKES_ABSENT_MACHINE(X86_PDPT_Map)
CAMKES_ABSENT_MACHINE(X86_PDPT_Unmap)
CAMKES_ABSENT_MACHINE(X86_PageDirectory_GetStatusBits)
CAMKES_ABSENT_MACHINE(X86_PageDirectory_Map)
CAMKES_ABSENT_MACHINE(X86_PageDirectory_Unmap)
CAMKES_ABSENT_MACHINE(X86_PageTable_Map)
CAMKES_ABSENT_MACHINE(X86_PageTable_Unmap)
CAMKES_ABSENT_MACHINE(X86_Page_GetAddress)
CAMKES_ABSENT_MACHINE(X86_Page_Map)
CAMKES_ABSENT_MACHINE(X86_Page_MapEPT)
CAMKES_ABSENT_MACHINE(X86_Page_MapIO)
CAMKES_ABSENT_MACHINE(X86_Page_Unmap)
CAMKES_ABSENT_MACHINE(X86_VCPU_DisableIOPort)
CAMKES_ABSENT_MACHINE(X86_VCPU_EnableIOPort)
CAMKES_ABSENT_MACHINE(X86_VCPU_ReadMSR)
CAMKES_ABSENT_MACHINE(X86_VCPU_ReadVMCS)
CAMKES_ABSENT_MACHINE(X86_VCPU_SetTCB)
CAMKES_ABSENT_MACHINE(X86_VCPU_WriteMSR)
CAMKES_ABSENT_MACHINE(X86_VCPU_WriteRegisters)
CAMKES_ABSENT_MACHINE(X86_VCPU_WriteVMCS)
CAMKES_ABSENT_BENCHMARK(BenchmarkDumpAllThreadsUtilisation)
CAMKES_ABSENT_BENCHMARK(BenchmarkFinalizeLog)
CAMKES_ABSENT_BENCHMARK(BenchmarkFlushCaches)
CAMKES_ABSENT_BENCHMARK(BenchmarkFlushL1Caches)
CAMKES_ABSENT_BENCHMARK(BenchmarkGetThreadUtilisation)
CAMKES_ABSENT_BENCHMARK(BenchmarkNullSyscall)
CAMKES_ABSENT_BENCHMARK(BenchmarkResetAllThreadsUtilisation)
CAMKES_ABSENT_BENCHMARK(BenchmarkResetLog)
CAMKES_ABSENT_BENCHMARK(BenchmarkResetThreadUtilisation)
CAMKES_ABSENT_BENCHMARK(BenchmarkSetLogBuffer)
CAMKES_ABSENT_OTHER(CNode_CancelBadgedSends)
CAMKES_ABSENT_OTHER(CNode_Copy)
CAMKES_ABSENT_OTHER(CNode_Mint)
CAMKES_ABSENT_OTHER(CNode_Move)
CAMKES_ABSENT_OTHER(CNode_Mutate)
CAMKES_ABSENT_OTHER(CNode_Revoke)
CAMKES_ABSENT_OTHER(CNode_Rotate)
CAMKES_ABSENT_OTHER(CanPrintError)
CAMKES_ABSENT_OTHER(DebugCapIdentify)
CAMKES_ABSENT_OTHER(DebugDumpScheduler)
CAMKES_ABSENT_OTHER(DebugGetThreadAffinity)
CAMKES_ABSENT_OTHER(DebugRun)
CAMKES_ABSENT_OTHER(DebugSendIPI)
CAMKES_ABSENT_OTHER(DebugSnapshot)
CAMKES_ABSENT_OTHER(DomainSet_ScheduleConfigure)
CAMKES_ABSENT_OTHER(DomainSet_ScheduleSetStart)
CAMKES_ABSENT_OTHER(DomainSet_Set)
CAMKES_ABSENT_OTHER(GetDebugError)
CAMKES_ABSENT_OTHER(SetIPCBuffer)
CAMKES_ABSENT_OTHER(SetPrintError)
CAMKES_ABSENT_OTHER(SetTLSBase)
CAMKES_ABSENT_OTHER(TCB_BindNotification)
CAMKES_ABSENT_OTHER(TCB_Configure)
CAMKES_ABSENT_OTHER(TCB_ConfigureSingleStepping)
CAMKES_ABSENT_OTHER(TCB_CopyRegisters)
CAMKES_ABSENT_OTHER(TCB_GetBreakpoint)
CAMKES_ABSENT_OTHER(TCB_ReadRegisters)
CAMKES_ABSENT_OTHER(TCB_SetAffinity)
CAMKES_ABSENT_OTHER(TCB_SetBreakpoint)
CAMKES_ABSENT_OTHER(TCB_SetFlags)
CAMKES_ABSENT_OTHER(TCB_SetIPCBuffer)
CAMKES_ABSENT_OTHER(TCB_SetSpace)
CAMKES_ABSENT_OTHER(TCB_SetTLSBase)
CAMKES_ABSENT_OTHER(TCB_UnbindNotification)
CAMKES_ABSENT_OTHER(TCB_UnsetBreakpoint)
CAMKES_ABSENT_OTHER(TCB_WriteRegisters)
CAMKES_ABSENT_OTHER(Untyped_Retype)
/* clang-format on */

#undef CAMKES_ABSENT_MCS
#undef CAMKES_ABSENT_MASTER
#undef CAMKES_ABSENT_MACHINE
#undef CAMKES_ABSENT_BENCHMARK
#undef CAMKES_ABSENT_OTHER
#undef CAMKES_ABSENT
#undef CAMKES_ANY_ARGUMENTS
#ifdef __cplusplus
}
#endif
