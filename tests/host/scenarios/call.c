/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: HOST-1 */
/* A client calls a server in another address space: message, label, badge, reply. */
#include <camkes/host.h>
#include <stdio.h>

enum { ENDPOINT = 1 };

static void client(void)
{
    for (int i = 0; i < 3; i++) {
        seL4_SetMR(0, (seL4_Word)i);
        seL4_SetMR(1, 100);
        seL4_MessageInfo_t info = seL4_Call(ENDPOINT, seL4_MessageInfo_new(7, 0, 0, 2));
        printf("reply %d label %d length %d\n", (int)seL4_GetMR(0),
               (int)seL4_MessageInfo_get_label(info), (int)seL4_MessageInfo_get_length(info));
    }
}

static void server(void)
{
    seL4_Word badge;
    seL4_MessageInfo_t info = seL4_Recv(ENDPOINT, &badge);
    for (;;) {
        printf("badge %d label %d length %d\n", (int)badge, (int)seL4_MessageInfo_get_label(info),
               (int)seL4_MessageInfo_get_length(info));
        seL4_SetMR(0, seL4_GetMR(0) + seL4_GetMR(1));
        info = seL4_ReplyRecv(ENDPOINT, seL4_MessageInfo_new(3, 0, 0, 1), &badge);
    }
}

void _camkes_thread(unsigned index)
{
    index == 0 ? client() : server();
}
