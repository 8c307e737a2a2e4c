/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The types of the seL4 API. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sel4/errors.h>

typedef int8_t seL4_Int8;
typedef int16_t seL4_Int16;
typedef int32_t seL4_Int32;
typedef int64_t seL4_Int64;
typedef uint8_t seL4_Uint8;
typedef uint16_t seL4_Uint16;
typedef uint32_t seL4_Uint32;
typedef uint64_t seL4_Uint64;
typedef int8_t seL4_Bool;

#define seL4_True 1
#define seL4_False 0
#define seL4_Null ((void *)0)

typedef uintptr_t seL4_Word;
typedef seL4_Word seL4_CPtr;
typedef seL4_CPtr seL4_CNode;
typedef seL4_CPtr seL4_TCB;

#define seL4_WordBits (8 * (int)sizeof(seL4_Word))
#define seL4_CapNull ((seL4_CPtr)0)
#define seL4_MinPrio 0
#define seL4_MaxPrio 255
#define seL4_MsgMaxLength 120
#define seL4_MsgMaxExtraCaps 3

/* label | capsUnwrapped (3 bits) | extraCaps (2 bits) | length (7 bits) */
typedef struct {
    seL4_Word words[1];
} seL4_MessageInfo_t;

static inline seL4_MessageInfo_t seL4_MessageInfo_new(seL4_Word label, seL4_Word capsUnwrapped,
                                                      seL4_Word extraCaps, seL4_Word length)
{
    seL4_MessageInfo_t info = {
        {label << 12 | (capsUnwrapped & 7) << 9 | (extraCaps & 3) << 7 | (length & 127)}};
    return info;
}

static inline seL4_Word seL4_MessageInfo_get_label(seL4_MessageInfo_t info)
{
    return info.words[0] >> 12;
}

static inline seL4_Word seL4_MessageInfo_get_capsUnwrapped(seL4_MessageInfo_t info)
{
    return info.words[0] >> 9 & 7;
}

static inline seL4_Word seL4_MessageInfo_get_extraCaps(seL4_MessageInfo_t info)
{
    return info.words[0] >> 7 & 3;
}

static inline seL4_Word seL4_MessageInfo_get_length(seL4_MessageInfo_t info)
{
    return info.words[0] & 127;
}

static inline seL4_MessageInfo_t seL4_MessageInfo_set_label(seL4_MessageInfo_t info,
                                                            seL4_Word label)
{
    info.words[0] = (info.words[0] & 0xfff) | label << 12;
    return info;
}

static inline seL4_MessageInfo_t seL4_MessageInfo_set_length(seL4_MessageInfo_t info,
                                                             seL4_Word length)
{
    info.words[0] = (info.words[0] & ~(seL4_Word)127) | (length & 127);
    return info;
}

/* The rights of a capability: grant reply, grant, read, write from bit 3 down. */
typedef struct {
    seL4_Word words[1];
} seL4_CapRights_t;

static inline seL4_CapRights_t seL4_CapRights_new(seL4_Word grant_reply, seL4_Word grant,
                                                  seL4_Word read, seL4_Word write)
{
    return (seL4_CapRights_t){
        {(grant_reply & 1) << 3 | (grant & 1) << 2 | (read & 1) << 1 | (write & 1)}};
}

static inline seL4_Word seL4_CapRights_get_capAllowGrantReply(seL4_CapRights_t rights)
{
    return rights.words[0] >> 3 & 1;
}

static inline seL4_Word seL4_CapRights_get_capAllowGrant(seL4_CapRights_t rights)
{
    return rights.words[0] >> 2 & 1;
}

static inline seL4_Word seL4_CapRights_get_capAllowRead(seL4_CapRights_t rights)
{
    return rights.words[0] >> 1 & 1;
}

static inline seL4_Word seL4_CapRights_get_capAllowWrite(seL4_CapRights_t rights)
{
    return rights.words[0] & 1;
}

#define seL4_NoRights seL4_CapRights_new(0, 0, 0, 0)
#define seL4_CanRead seL4_CapRights_new(0, 0, 1, 0)
#define seL4_CanWrite seL4_CapRights_new(0, 0, 0, 1)
#define seL4_CanGrant seL4_CapRights_new(0, 1, 0, 0)
#define seL4_CanGrantReply seL4_CapRights_new(1, 0, 0, 0)
#define seL4_ReadWrite seL4_CapRights_new(0, 0, 1, 1)
#define seL4_AllRights seL4_CapRights_new(1, 1, 1, 1)

/* One a thread; the layout is the kernel's. */
typedef struct {
    seL4_MessageInfo_t tag; /* not used by the kernel */
    seL4_Word msg[seL4_MsgMaxLength];
    seL4_Word userData; /* the thread's own; the runtime keeps its thread record here */
    /* Capabilities to send, and the badges of those that were unwrapped. */
    seL4_Word caps_or_badges[seL4_MsgMaxExtraCaps];
    /* Where a capability that arrives would go. */
    seL4_CPtr receiveCNode;
    seL4_CPtr receiveIndex;
    seL4_Word receiveDepth;
} seL4_IPCBuffer;
