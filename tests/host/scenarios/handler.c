/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: HOST-4 */
/* A fault handler gets the message of a fault and may let the thread try again. */
#include <camkes/host.h>
#include <stdio.h>
#include <sys/mman.h>

enum { FAULTS = 1, HANDLER = 2, EMPTY = 3 };

static char page[4096] __attribute__((aligned(4096)));
static volatile double value = 1.5;

#ifdef __x86_64__
#define IN_REGISTER "+x"
#else
#define IN_REGISTER "+w"
#endif

static void client(void)
{
    mprotect(page, sizeof page, PROT_NONE);
    double kept = value; /* floating point survives */
    __asm__ volatile("" : IN_REGISTER(kept));
    ((volatile char *)page)[100] = 42;
    __asm__ volatile("" : IN_REGISTER(kept));
    printf("the write went well: %d, %d\n", page[100], (int)(kept * 2));
    seL4_Send(12345, seL4_MessageInfo_new(0, 0, 0, 0));
    printf("not reached: the handler does not let it go on\n");
}

static void handler(void)
{
    seL4_Word badge;
    seL4_MessageInfo_t info = seL4_Recv(FAULTS, &badge);
    seL4_Word offset = seL4_GetMR(seL4_VMFault_Addr) - (seL4_Word)page;
    printf("fault %d, length %d, badge %d, at page+%d, %s\n", (int)seL4_MessageInfo_get_label(info),
           (int)seL4_MessageInfo_get_length(info), (int)badge, (int)offset,
           seL4_GetMR(seL4_VMFault_FSR) & 2 ? "write" : "read");
    mprotect(page, sizeof page, PROT_READ | PROT_WRITE);
    printf("%.3f %.3f\n", value * 3, value / 3);
    /* it goes on whatever the label of the reply is */
    info = seL4_ReplyRecv(FAULTS, seL4_MessageInfo_new(7, 0, 0, 0), &badge);
    printf("fault %d in slot %d, receiving %d\n", (int)seL4_MessageInfo_get_label(info),
           (int)seL4_GetMR(seL4_CapFault_Addr), (int)seL4_GetMR(seL4_CapFault_InRecvPhase));
    printf("length %d, failure %d, bits left %d\n", (int)seL4_MessageInfo_get_length(info),
           (int)seL4_GetMR(seL4_CapFault_LookupFailureType),
           (int)seL4_GetMR(seL4_CapFault_BitsLeft));
    info = seL4_Recv(FAULTS, &badge);
    printf("fault %d in slot %d, length %d, failure %d, bits left %d\n",
           (int)seL4_MessageInfo_get_label(info), (int)seL4_GetMR(seL4_CapFault_Addr),
           (int)seL4_MessageInfo_get_length(info), (int)seL4_GetMR(seL4_CapFault_LookupFailureType),
           (int)seL4_GetMR(seL4_CapFault_BitsLeft));
    seL4_Recv(FAULTS, &badge);
    printf("not reached: no more faults\n");
}

void _camkes_thread(unsigned index)
{
    switch (index) {
    case 0:
        client();
        break;
    case 1:
        handler();
        break;
    default:
        seL4_Wait(EMPTY, NULL);
    }
}
