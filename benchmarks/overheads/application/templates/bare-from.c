/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* clang-format off */
/*- set ep = alloc('ep', seL4_EndpointObject, write=True, grantreply=True) -*/
#include <bare.h>
#include <camkes.h>

uint64_t /*? me.interface.name ?*/_now(uint64_t release)
{
    BARE_STACK(stack);
    return bare_one(stack, seL4_SysCall, /*? ep ?*/, release);
}
