/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: HOST-1 */
/* Capabilities travel in messages with the right to grant: to the endpoint itself as a badge, one
 * other into the slot that the receiver has named, while that is empty. */
#include <camkes/host.h>
#include <stdio.h>

enum { ENDPOINT = 1, SIGNALS = 2, CSPACE = 3, WITHOUT_GRANT = 4, EMPTY = 8 };

static void send(seL4_CPtr to, unsigned count, seL4_CPtr first, seL4_CPtr second)
{
    seL4_SetCap(0, first);
    seL4_SetCap(1, second);
    seL4_SetMR(0, 42);
    (void)seL4_Call(to, seL4_MessageInfo_new(0, 0, count, 1));
}

static void show(seL4_MessageInfo_t info)
{
    seL4_Word badge = 0;
    (void)seL4_Poll(EMPTY, &badge);
    printf("word %d, capabilities %d, of these badges %d: %d; the slot signals %d\n",
           (int)seL4_GetMR(0), (int)seL4_MessageInfo_get_extraCaps(info),
           (int)seL4_MessageInfo_get_capsUnwrapped(info), (int)seL4_GetBadge(0), (int)badge);
}

void _camkes_thread(unsigned index)
{
    if (index == 0) {
        seL4_Signal(SIGNALS);
        send(ENDPOINT, 2, WITHOUT_GRANT, SIGNALS);
        send(ENDPOINT, 2, SIGNALS, ENDPOINT); /* the slot is not empty any more */
        send(WITHOUT_GRANT, 1, WITHOUT_GRANT, 0);
        return;
    }
    seL4_SetCapReceivePath(CSPACE, EMPTY, seL4_WordBits);
    show(seL4_Recv(ENDPOINT, NULL));
    for (int i = 0; i < 2; i++) {
        show(seL4_ReplyRecv(ENDPOINT, seL4_MessageInfo_new(0, 0, 0, 0), NULL));
    }
}
