/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: HOST-1 */
/* A notification is a word of badges: signals join, a wait takes them all. */
#include <camkes/host.h>
#include <stdio.h>

enum { WAIT = 1, ONE = 2, TWO = 3, EIGHT = 4 };

void _camkes_thread(unsigned index)
{
    seL4_Word badge = 99;
    if (index == 0) {
        seL4_Poll(WAIT, &badge);
        printf("poll finds %d at %d ns\n", (int)badge, (int)camkes_host_now());
        seL4_Signal(ONE);
        seL4_Signal(EIGHT);
        seL4_Signal(ONE);
        seL4_Wait(WAIT, &badge);
        printf("wait takes %d\n", (int)badge);
        seL4_Poll(WAIT, &badge);
        printf("poll finds %d\n", (int)badge);
        seL4_Signal(TWO);
        seL4_Poll(WAIT, &badge);
        printf("poll takes %d at %d ns\n", (int)badge, (int)camkes_host_now());
        seL4_Wait(WAIT, &badge);
        printf("woken by %d\n", (int)badge);
        seL4_Recv(WAIT, &badge);
        printf("woken by %d, received as a message\n", (int)badge);
    } else {
        printf("low signals\n");
        seL4_Signal(EIGHT);
        printf("low signals again\n");
        seL4_Send(TWO, seL4_MessageInfo_new(0, 0, 0, 0));
        printf("low ends\n");
    }
}
