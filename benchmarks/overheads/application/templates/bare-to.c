/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* clang-format off */
/*- set ep = alloc('ep', seL4_EndpointObject, read=True) -*/
#include <bare.h>
#include <camkes.h>

uint64_t /*? me.interface.name ?*/_now(uint64_t release);

int /*? me.interface.name ?*/__run(void)
{
    seL4_Word badge, word;
    seL4_RecvWithMRs(/*? ep ?*/, &badge, &word, NULL, NULL, NULL);
    BARE_STACK(stack);
    for (;;) {
        word = bare_one(stack, seL4_SysReplyRecv, /*? ep ?*/, /*? me.interface.name ?*/_now(word));
    }
}
