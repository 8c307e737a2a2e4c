/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* clang-format off */
/*- set ep = alloc('ep', seL4_EndpointObject, write=True, grantreply=True) -*/
#include <camkes.h>
#include <sel4/sel4.h>

uint64_t /*? me.interface.name ?*/_now(uint64_t release)
{
    seL4_Word word = release;
    (void)seL4_CallWithMRs(/*? ep ?*/, seL4_MessageInfo_new(0, 0, 0, 1), &word, NULL, NULL, NULL);
    return word;
}
