/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: HOST-1 */
/* Reply capabilities: saved, used once in any order, deleted, or never there. */
#include <camkes/host.h>
#include <stdio.h>

enum { ENDPOINT = 1, CNODE = 2, FORGOTTEN = 3, SAVED = 10 };

static void client(unsigned index)
{
    seL4_SetMR(0, index);
    seL4_MessageInfo_t info = seL4_Call(ENDPOINT, seL4_MessageInfo_new(0, 0, 0, 1));
    printf("client %u has reply %d, label %d\n", index, (int)seL4_GetMR(0),
           (int)seL4_MessageInfo_get_label(info));
}

static void server(void)
{
    seL4_Reply(seL4_MessageInfo_new(0, 0, 0, 0));
    printf("a reply without a caller has no effect\n");
    printf("save without a caller: %d\n", seL4_CNode_SaveCaller(CNODE, SAVED, seL4_WordBits));
    for (seL4_Word i = 0; i < 4; i++) {
        seL4_Recv(ENDPOINT, NULL);
        seL4_Word client = seL4_GetMR(0);
        int error = seL4_CNode_SaveCaller(CNODE, SAVED + client, seL4_WordBits);
        printf("saved client %d: %d\n", (int)client, error);
    }
    printf("save again into a full slot: %d\n", seL4_CNode_SaveCaller(CNODE, SAVED, 64));
    for (seL4_Word i = 4; i-- > 1;) {
        seL4_SetMR(0, 100 + i);
        seL4_Send(SAVED + i, seL4_MessageInfo_new(i, 0, 0, 1));
    }
    printf("delete the last: %d\n", seL4_CNode_Delete(CNODE, SAVED, seL4_WordBits));
    seL4_Send(SAVED, seL4_MessageInfo_new(0, 0, 0, 1));
    seL4_Send(SAVED + 1, seL4_MessageInfo_new(0, 0, 0, 1));
    printf("used capabilities are gone\n");
    seL4_Recv(ENDPOINT, NULL);
    printf("one more call, dropped by receiving again\n");
    seL4_Recv(ENDPOINT, NULL);
    printf("and another call\n");
    seL4_Recv(ENDPOINT, NULL);
    seL4_CNode_SaveCaller(CNODE, SAVED, seL4_WordBits);
    seL4_TCB_Suspend(FORGOTTEN);
    printf("a slot is not cleared for one whose capability was in it before\n");
    seL4_Send(SAVED, seL4_MessageInfo_new(9, 0, 0, 0));
}

void _camkes_thread(unsigned index)
{
    if (index == 9) {
        server();
    } else if (index > 4) {
        camkes_host_work(index);
        client(index);
        printf("%s\n", index == 7 ? "and is the last" : "not reached: no thread replies");
    } else {
        client(index);
    }
}
