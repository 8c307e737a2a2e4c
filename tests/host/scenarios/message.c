/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: HOST-1 */
/* Messages are up to 120 words long, and a signal to an endpoint has none; user data stays with the
 * thread. */
#include <camkes/host.h>
#include <stdio.h>

enum { ENDPOINT = 1, ITSELF = 2 };

void _camkes_thread(unsigned index)
{
    seL4_SetUserData(1000 + index);
    if (index == 0) {
        for (int i = 0; i < seL4_MsgMaxLength; i++) {
            seL4_SetMR(i, (seL4_Word)(i * i));
        }
        seL4_Word label = ~(seL4_Word)0 >> 12;
        seL4_MessageInfo_t info = seL4_Call(ENDPOINT, seL4_MessageInfo_new(label, 0, 3, 127));
        printf("reply: length %d, word 1 still %d\n", (int)seL4_MessageInfo_get_length(info),
               (int)seL4_GetMR(1));
        seL4_Signal(ENDPOINT);
    } else {
        seL4_Word badge;
        seL4_MessageInfo_t info = seL4_Recv(ENDPOINT, &badge);
        seL4_Word sum = 0;
        for (int i = 0; i < seL4_MsgMaxLength; i++) {
            sum += seL4_GetMR(i);
        }
        printf("length %d, sum %d, badge %llx, label of all ones %d, capabilities %d\n",
               (int)seL4_MessageInfo_get_length(info), (int)sum, (unsigned long long)badge,
               seL4_MessageInfo_get_label(info) == ~(seL4_Word)0 >> 12,
               (int)seL4_MessageInfo_get_extraCaps(info));
        seL4_SetMR(0, 7);
        seL4_Reply(seL4_MessageInfo_new(0, 0, 0, 1));
        info = seL4_Recv(ENDPOINT, NULL);
        printf("signal: length %d, label %d\n", (int)seL4_MessageInfo_get_length(info),
               (int)seL4_MessageInfo_get_label(info));
    }
    printf("user data %d\n", (int)seL4_GetUserData());
}
