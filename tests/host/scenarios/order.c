/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: HOST-2 */
/* First in, first out: senders at an endpoint, receivers at one, waiters at a notification. */
#include <camkes/host.h>
#include <stdio.h>

enum { REQUESTS = 1, JOBS = 2, NOTE = 3 };

static void sender(unsigned index)
{
    seL4_SetMR(0, index);
    seL4_Send(REQUESTS, seL4_MessageInfo_new(0, 0, 0, 1));
    printf("sender %u goes on\n", index);
    seL4_Recv(JOBS, NULL);
    printf("receiver %u got %d\n", index, (int)seL4_GetMR(0));
    seL4_Wait(NOTE, NULL);
    printf("waiter %u\n", index);
}

static void server(void)
{
    for (int i = 0; i < 3; i++) {
        seL4_Word badge;
        seL4_Recv(REQUESTS, &badge);
        printf("request of %d, badge %d\n", (int)seL4_GetMR(0), (int)badge);
    }
    for (int i = 0; i < 3; i++) {
        seL4_SetMR(0, (seL4_Word)(10 + i));
        seL4_Send(JOBS, seL4_MessageInfo_new(0, 0, 0, 1));
    }
    printf("no thread receives, so this is lost\n");
    seL4_NBSend(JOBS, seL4_MessageInfo_new(0, 0, 0, 1));
    for (int i = 0; i < 3; i++) {
        seL4_Signal(NOTE);
    }
}

void _camkes_thread(unsigned index)
{
    index == 9 ? server() : sender(index);
}
