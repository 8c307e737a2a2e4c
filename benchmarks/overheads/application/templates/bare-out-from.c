/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* clang-format off */
/*- set ep = alloc('ep', seL4_EndpointObject, write=True, grantreply=True) -*/
#include <camkes.h>
#include <sel4/sel4.h>

uint64_t /*? me.interface.name ?*/_out3(uint64_t *a, uint64_t *b, uint64_t *c)
{
    seL4_Word result = 0; /* one word to the server, as the number of a method takes */
    (void)seL4_CallWithMRs(/*? ep ?*/, seL4_MessageInfo_new(0, 0, 0, 1), &result, a, b, c);
    return result;
}
