/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: HOST-1 */
/* What a thread may do is what its capabilities say: kinds, rights, slots that are not there. */
#include <camkes/host.h>
#include <stdio.h>

enum {
    ENDPOINT_R = 1,
    ENDPOINT_W = 2,
    NOTIFICATION_R = 3,
    NOTIFICATION_W = 4,
    TCB_SELF = 5,
    TCB_OTHER = 6,
    ENDPOINT_WP = 7,
    EMPTY = 9,
    OUTSIDE = 100000,
};

static void asker(void)
{
    seL4_MessageInfo_t info = seL4_MessageInfo_new(1, 0, 0, 0);
    printf("call through a read-only endpoint: %d\n",
           (int)seL4_MessageInfo_get_label(seL4_Call(ENDPOINT_R, info)));
    printf("call of nothing: %d\n", (int)seL4_MessageInfo_get_label(seL4_Call(EMPTY, info)));
    printf("call of a thread: %d\n", (int)seL4_MessageInfo_get_label(seL4_Call(TCB_SELF, info)));
    seL4_Signal(NOTIFICATION_R);
    seL4_Send(EMPTY, info);
    seL4_NBSend(OUTSIDE, info);
    printf("priority of nothing: %d\n", seL4_TCB_SetPriority(EMPTY, TCB_SELF, 1));
    printf("priority of an endpoint: %d\n", seL4_TCB_SetPriority(ENDPOINT_R, TCB_SELF, 1));
    printf("priority without authority: %d\n", seL4_TCB_SetPriority(TCB_SELF, EMPTY, 1));
    printf("priority over the authority's maximum: %d\n",
           seL4_TCB_SetPriority(TCB_OTHER, TCB_SELF, 31));
    printf("priority that is none: %d\n", seL4_TCB_SetPriority(TCB_OTHER, TCB_SELF, 256));
    printf("priority at the maximum: %d\n", seL4_TCB_SetPriority(TCB_OTHER, TCB_SELF, 30));
    printf("suspend nothing: %d\n", seL4_TCB_Suspend(EMPTY));
    printf("resume an endpoint: %d\n", seL4_TCB_Resume(ENDPOINT_W));
    printf("save into a full slot: %d\n", seL4_CNode_SaveCaller(0, ENDPOINT_R, seL4_WordBits));
    printf("save outside: %d\n", seL4_CNode_SaveCaller(0, OUTSIDE, seL4_WordBits));
    printf("save with a bad depth: %d\n", seL4_CNode_SaveCaller(0, EMPTY, 0));
    printf("save into no space: %d\n", seL4_CNode_SaveCaller(ENDPOINT_R, EMPTY, seL4_WordBits));
    printf("delete outside: %d\n", seL4_CNode_Delete(0, OUTSIDE, seL4_WordBits));
    printf("delete: %d\n", seL4_CNode_Delete(0, ENDPOINT_R, seL4_WordBits));
    printf("delete nothing: %d\n", seL4_CNode_Delete(0, ENDPOINT_R, seL4_WordBits));
    printf("call of what was deleted: %d\n",
           (int)seL4_MessageInfo_get_label(seL4_Call(ENDPOINT_R, info)));
    seL4_Call(ENDPOINT_W, info);
    printf("not reached: no right to a reply\n");
}

void _camkes_thread(unsigned index)
{
    switch (index) {
    case 0:
        asker();
        break;
    case 1: {
        seL4_Word badge;
        seL4_Recv(ENDPOINT_R, &badge);
        printf("received\n");
        seL4_Reply(seL4_MessageInfo_new(0, 0, 0, 0));
        seL4_Recv(ENDPOINT_W, &badge);
        printf("not reached: no right to receive\n");
        break;
    }
    case 2:
        seL4_Send(OUTSIDE, seL4_MessageInfo_new(0, 0, 0, 0));
        printf("not reached: no such slot\n");
        break;
    case 3:
        seL4_Poll(NOTIFICATION_W, NULL);
        printf("not reached: no right to wait\n");
        break;
    case 4:
        seL4_Recv(EMPTY, NULL);
        printf("not reached: nothing to receive from\n");
        break;
    case 5:
        seL4_Wait(TCB_SELF, NULL);
        printf("not reached: a thread is not a notification\n");
        break;
    }
}
