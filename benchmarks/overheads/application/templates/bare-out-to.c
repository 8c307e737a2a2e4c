/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* clang-format off */
/*- set ep = alloc('ep', seL4_EndpointObject, read=True) -*/
#include <bare.h>
#include <camkes.h>

uint64_t /*? me.interface.name ?*/_out3(uint64_t *a, uint64_t *b, uint64_t *c);

int /*? me.interface.name ?*/__run(void)
{
    seL4_Word badge, result, a, b, c;
    seL4_RecvWithMRs(/*? ep ?*/, &badge, &result, &a, &b, &c);
    BARE_STACK(stack);
    for (;;) {
        result = /*? me.interface.name ?*/_out3(&a, &b, &c);
        bare_reply_four(stack, /*? ep ?*/, result, a, b, c);
    }
}
