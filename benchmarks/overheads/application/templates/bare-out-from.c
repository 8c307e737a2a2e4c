/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* clang-format off */
/*- set ep = alloc('ep', seL4_EndpointObject, write=True, grantreply=True) -*/
#include <bare.h>
#include <camkes.h>

uint64_t /*? me.interface.name ?*/_out3(uint64_t *a, uint64_t *b, uint64_t *c)
{
    return bare_call_four(/*? ep ?*/, 0, a, b, c); /* one word to the server, as the number of a method takes */
}
