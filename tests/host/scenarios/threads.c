/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: HOST-2 */
/* Priorities of threads change while they run, wait and are ready; suspend and resume. */
#include <camkes/host.h>
#include <stdio.h>

enum { SELF = 1, WORKER = 2, WAITER = 3, CALLER = 4, NOTE = 5, ENDPOINT = 6, BUSY = 7 };

static void boss(void)
{
    printf("boss at 50\n");
    seL4_Wait(NOTE, NULL);
    printf("boss woken\n");
    seL4_TCB_SetPriority(WORKER, SELF, 60);
    printf("worker raised: it ran first\n");
    seL4_TCB_SetPriority(WORKER, SELF, 40);
    seL4_TCB_SetPriority(SELF, SELF, 30);
    printf("boss lowered itself: the worker at 40 ran\n");
    seL4_TCB_SetPriority(SELF, SELF, 50);

    printf("suspend the waiter: %d\n", seL4_TCB_Suspend(WAITER));
    seL4_Signal(NOTE);
    printf("the signal stays\n");
    seL4_TCB_Resume(WAITER);
    printf("resumed, it waits again: and found the signal once boss waits\n");
    camkes_host_work(10);

    seL4_TCB_Suspend(CALLER);
    printf("resume the caller: its call is sent again\n");
    seL4_TCB_Resume(CALLER);
    seL4_SetMR(0, 0);
    seL4_Recv(ENDPOINT, NULL);
    printf("message of the caller: %d\n", (int)seL4_GetMR(0));
    seL4_TCB_Suspend(CALLER);
    printf("suspended while it waits for a reply; replying does nothing\n");
    seL4_Reply(seL4_MessageInfo_new(0, 0, 0, 0));
    seL4_TCB_Resume(CALLER);
    seL4_Recv(ENDPOINT, NULL);
    printf("resumed, it calls once more: %d\n", (int)seL4_GetMR(0));
    seL4_Reply(seL4_MessageInfo_new(0, 0, 0, 0));

    seL4_TCB_SetPriority(SELF, SELF, 5);
    printf("boss at 5\n");
    seL4_TCB_SetPriority(SELF, SELF, 50);
    seL4_TCB_Resume(SELF);
    printf("boss suspends itself\n");
    seL4_TCB_Suspend(SELF);
    printf("boss goes on where it was\n");
}

void _camkes_thread(unsigned index)
{
    switch (index) {
    case 0:
        boss();
        break;
    case 1:
        printf("worker at 20\n");
        seL4_Signal(NOTE);
        printf("worker runs at 60\n");
        seL4_TCB_SetPriority(WORKER, WORKER, 30);
        printf("worker runs at 40\n");
        break;
    case 2:
        seL4_Wait(NOTE, NULL);
        printf("waiter has its signal\n");
        break;
    case 3:
        camkes_host_work(1);
        seL4_SetMR(0, 33);
        seL4_Call(ENDPOINT, seL4_MessageInfo_new(0, 0, 0, 1));
        printf("caller done\n");
        break;
    case 4:
        camkes_host_work(1000);
        printf("last at %d ns\n", (int)camkes_host_now());
        seL4_TCB_Resume(SELF);
        printf("the end\n");
        break;
    }
}
