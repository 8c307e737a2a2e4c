/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* clang-format off */
/*- set ep = alloc('ep', seL4_EndpointObject, read=True) -*/
#include <camkes.h>
#include <sel4/sel4.h>

uint64_t /*? me.interface.name ?*/_out3(uint64_t *a, uint64_t *b, uint64_t *c);

int /*? me.interface.name ?*/__run(void)
{
    seL4_Word badge, result, a, b, c;
    seL4_RecvWithMRs(/*? ep ?*/, &badge, &result, &a, &b, &c);
    for (;;) {
        result = /*? me.interface.name ?*/_out3(&a, &b, &c);
        seL4_ReplyRecvWithMRs(/*? ep ?*/, seL4_MessageInfo_new(0, 0, 0, 4), &badge, &result, &a, &b, &c);
    }
}
