/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Stands in for the header of seL4's capDL loader, so that tables for any machine can be compiled
 * and printed on this one: the same names, words of 64 bits, and structs of the same members.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONFIG_DEBUG_BUILD 1
#define CONFIG_CAPDL_LOADER_FILLS_PER_FRAME 8
#define CONFIG_ARCH_IA32 1
#define CONFIG_ARCH_X86_64 1
#define CONFIG_ARCH_ARM 1
#define CONFIG_ARCH_AARCH64 1
#define CONFIG_ARCH_RISCV 1
#define seL4_IPCBufferSizeBits 9

typedef uint64_t seL4_Word;
typedef seL4_Word CDL_ObjID;
#define INVALID_OBJ_ID ((CDL_ObjID) - 1)

#define CAP_TYPES(DO)                                                                              \
    DO(NullCap), DO(UntypedCap), DO(EPCap), DO(NotificationCap), DO(CNodeCap), DO(TCBCap),         \
        DO(IRQControlCap), DO(IRQHandlerCap), DO(FrameCap), DO(PTCap), DO(PDCap), DO(PML4Cap),     \
        DO(PDPTCap), DO(PUDCap), DO(PGDCap), DO(ASIDControlCap), DO(ASIDPoolCap), DO(IOPortsCap),  \
        DO(IOSpaceCap), DO(ARMIOSpaceCap), DO(SIDCap), DO(CBCap), DO(SMCCap), DO(VCPUCap),         \
        DO(SCCap), DO(SchedControlCap), DO(RTReplyCap), DO(DomainCap)
#define OBJECT_TYPES(DO)                                                                           \
    DO(Endpoint), DO(Notification), DO(TCB), DO(CNode), DO(Untyped), DO(PT), DO(PD), DO(PML4),     \
        DO(PDPT), DO(PUD), DO(PGD), DO(Frame), DO(VCPU), DO(ASIDPool), DO(Interrupt), DO(IOPorts), \
        DO(IODevice), DO(SchedContext), DO(RTReply), DO(IOAPICInterrupt), DO(MSIInterrupt),        \
        DO(ARMIODevice), DO(ARMInterrupt), DO(SID), DO(CB), DO(SMC)
#define FILLS(DO)                                                                                  \
    DO(FrameFill_BootInfo_X86_VBE), DO(FrameFill_BootInfo_X86_TSC_Freq), DO(FrameFill_BootInfo_FDT)

#define VALUE(name) CDL_##name
typedef enum { CAP_TYPES(VALUE) } CDL_CapType;
typedef enum { OBJECT_TYPES(VALUE) } CDL_ObjectType;
typedef enum { FILLS(VALUE) } CDL_FrameFill_BootInfoEnum_t;
#undef VALUE
#define SEL4_BOOTINFO_HEADER_FDT CDL_FrameFill_BootInfo_FDT

typedef enum {
    CDL_CanWrite = 1,
    CDL_CanRead = 2,
    CDL_CanGrant = 4,
    CDL_CanGrantReply = 8,
    CDL_AllRights = 15,
} CDL_CapRights;

enum { CDL_VM_CacheEnabled = 1, CDL_VM_CacheDisabled = 2 };
#define seL4_ARCH_Default_VMAttributes CDL_VM_CacheEnabled

enum { CDL_CapData_Badge, CDL_CapData_Guard, CDL_CapData_Raw };
typedef struct {
    seL4_Word guard_bits, guard_size, badge, data;
    unsigned tag;
} CDL_CapData;
#define CDL_CapData_MakeGuard(size, bits)                                                          \
    {.tag = CDL_CapData_Guard, .guard_bits = (bits), .guard_size = (size)}

typedef struct {
    CDL_ObjID obj_id;
    CDL_CapData data;
    seL4_Word irq;
    CDL_ObjID mapping_container_id;
    seL4_Word mapping_slot;
    uint8_t type;
    unsigned vm_attribs, is_orig, rights;
} CDL_Cap;

typedef struct {
    seL4_Word slot;
    CDL_Cap cap;
} CDL_CapSlot;

typedef struct {
    uint8_t priority, max_priority, affinity, domain;
    seL4_Word pc, sp;
    const char *elf_name;
    const seL4_Word *init;
    seL4_Word init_sz, fault_ep, ipcbuffer_addr;
    bool resume, fpu_disabled;
} CDL_TCBExtraInfo;

typedef enum {
    CDL_FrameFill_None,
    CDL_FrameFill_BootInfo,
    CDL_FrameFill_FileData,
} CDL_FrameFillType_t;

typedef struct {
    CDL_FrameFillType_t type;
    size_t dest_offset, dest_len;
    struct {
        CDL_FrameFill_BootInfoEnum_t type;
        size_t src_offset;
    } bi_type;
    struct {
        const char *filename;
        size_t file_offset;
    } file_data_type;
} CDL_FrameFill_Element_t;

/* An array with its length before it. */
#define TABLE(type, count, items)                                                                  \
    seL4_Word count;                                                                               \
    type *items

typedef struct {
    const char *name;
    struct {
        TABLE(CDL_CapSlot, num, slot);
    } slots;
    CDL_TCBExtraInfo tcb_extra;
    struct {
        uint64_t period, budget;
        seL4_Word data;
    } sc_extra;
    struct {
        uint8_t bank;
    } cb_extra;
    struct {
        int ioapic, ioapic_pin, level, polarity;
    } ioapicirq_extra;
    struct {
        int handle, pci_bus, pci_dev, pci_fun;
    } msiirq_extra;
    struct {
        int trigger, target;
    } armirq_extra;
    struct {
        CDL_FrameFill_Element_t fill[CONFIG_CAPDL_LOADER_FILLS_PER_FRAME];
        seL4_Word paddr;
    } frame_extra;
    seL4_Word paddr, asid_high, start, end;
    CDL_ObjectType type;
    uint32_t size_bits;
} CDL_Object;

typedef struct {
    CDL_ObjID untyped;
    TABLE(CDL_ObjID, num, children);
} CDL_UntypedDerivation;

typedef struct {
    seL4_Word domainSetStart, domainIndexShift;
    TABLE(uint64_t, domainScheduleLength, domainSchedule);
    TABLE(CDL_ObjID, num_asid_slots, asid_slots);
    TABLE(CDL_ObjID, num_irqs, irqs);
    TABLE(CDL_UntypedDerivation, num_untyped, untyped);
    TABLE(CDL_Object, num, objects);
} CDL_Model;

extern CDL_Model capdl_spec;
