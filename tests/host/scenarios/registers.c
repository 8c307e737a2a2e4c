/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: HOST-1 */
/* Message registers as arguments: set before a message is sent, read after one is received. */
#include <camkes/host.h>
#include <stdio.h>

enum { ENDPOINT = 1 };

static void client(void)
{
    seL4_Word a = 1, b = 2, c = 3, d = 4;
    seL4_MessageInfo_t info =
        seL4_CallWithMRs(ENDPOINT, seL4_MessageInfo_new(9, 0, 0, 4), &a, &b, &c, &d);
    printf("label %d: %d %d %d %d\n", (int)seL4_MessageInfo_get_label(info), (int)a, (int)b, (int)c,
           (int)d);
    seL4_SetMR(1, 77);
    seL4_CallWithMRs(ENDPOINT, seL4_MessageInfo_new(0, 0, 0, 2), &a, NULL, &c, NULL);
    printf("%d %d\n", (int)a, (int)c);
    seL4_SendWithMRs(ENDPOINT, seL4_MessageInfo_new(0, 0, 0, 1), &d, NULL, NULL, NULL);
    seL4_Yield();
    seL4_NBSendWithMRs(ENDPOINT, seL4_MessageInfo_new(0, 0, 0, 2), NULL, &b, NULL, NULL);
}

static void server(void)
{
    seL4_Word badge, a, b, c, d;
    seL4_MessageInfo_t info = seL4_RecvWithMRs(ENDPOINT, &badge, &a, &b, &c, &d);
    printf("badge %d, label %d: %d %d %d %d\n", (int)badge, (int)seL4_MessageInfo_get_label(info),
           (int)a, (int)b, (int)c, (int)d);
    a *= 10, b *= 10, c *= 10, d *= 10;
    info = seL4_MessageInfo_new(5, 0, 0, 4);
    info = seL4_ReplyRecvWithMRs(ENDPOINT, info, &badge, &a, &b, &c, &d);
    printf("length %d: %d %d\n", (int)seL4_MessageInfo_get_length(info), (int)a, (int)b);
    a = 5, c = 6;
    seL4_ReplyWithMRs(seL4_MessageInfo_new(0, 0, 0, 3), &a, NULL, &c, NULL);
    seL4_RecvWithMRs(ENDPOINT, NULL, &a, NULL, NULL, NULL);
    printf("sent %d\n", (int)a);
    seL4_RecvWithMRs(ENDPOINT, NULL, NULL, &b, NULL, NULL);
    printf("sent without waiting %d\n", (int)b);
}

void _camkes_thread(unsigned index)
{
    if (index == 0) {
        client();
    } else {
        server();
    }
}
