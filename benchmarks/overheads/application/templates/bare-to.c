/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* clang-format off */
/*- set ep = alloc('ep', seL4_EndpointObject, read=True) -*/
#include <camkes.h>
#include <sel4/sel4.h>

uint64_t /*? me.interface.name ?*/_now(uint64_t release);

int /*? me.interface.name ?*/__run(void)
{
    seL4_Word badge, word;
    seL4_RecvWithMRs(/*? ep ?*/, &badge, &word, NULL, NULL, NULL);
    for (;;) {
        word = /*? me.interface.name ?*/_now(word);
        seL4_ReplyRecvWithMRs(/*? ep ?*/, seL4_MessageInfo_new(0, 0, 0, 1), &badge, &word, NULL, NULL, NULL);
    }
}
