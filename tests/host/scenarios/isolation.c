/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: HOST-5 */
/* The memory of another component is not there, wherever a wild pointer points. */
#include <camkes/host.h>
#include <stdio.h>

enum { ENDPOINT = 1 };

static volatile int secret = 42;

void _camkes_thread(unsigned index)
{
    char *mine = __builtin_frame_address(0);
    if (index == 0) {
        seL4_SetMR(0, (seL4_Word)mine);
        seL4_SetMR(1, seL4_GetMR(0));
        seL4_Send(ENDPOINT, seL4_MessageInfo_new(0, 0, 0, 1));
        secret = 43;
        camkes_host_work(1000);
        printf("the victim is well: %d\n", secret);
    } else {
        seL4_Recv(ENDPOINT, NULL);
        char *theirs = (char *)seL4_GetMR(0);
        printf("own data: %d\n", secret);
        /* the stack of the other is far away, and not mapped here */
        *theirs = 1;
        printf("not reached: it was writable\n");
    }
}
