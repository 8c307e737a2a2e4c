/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Threads of an MCS kernel. The low 8 bits of a thread's index are its role, the rest a number. */
#include <camkes/host.h>

enum { FIRST = 1, REPLY = 2, SECOND = 3 };
enum { WORKER, BUSY, CLIENT, SERVER, REPORTER };

/* Each signal is a job; its badge is how long that takes. */
static void worker(void)
{
    for (;;) {
        seL4_Word badge;
        seL4_Wait(FIRST, &badge);
        camkes_host_work(badge);
    }
}

/* The same, and goes to a server and back at the end of each job. */
static void reporter(void)
{
    for (;;) {
        seL4_Word badge;
        seL4_Wait(FIRST, &badge);
        camkes_host_work(badge);
        seL4_SetMR(0, 0);
        seL4_Call(SECOND, seL4_MessageInfo_new(0, 0, 0, 1));
    }
}

static void client(uint64_t ns)
{
    for (;;) {
        seL4_SetMR(0, ns);
        seL4_Call(FIRST, seL4_MessageInfo_new(0, 0, 0, 1));
    }
}

/* Each request takes as long as it says. Also a handler of faults that lets threads go on. */
static void server(void)
{
    seL4_Word badge;
    seL4_MessageInfo_t info = seL4_Recv(FIRST, &badge, REPLY);
    for (;;) {
        if (seL4_MessageInfo_get_label(info) == 0) {
            camkes_host_work(seL4_GetMR(0));
        }
        info = seL4_ReplyRecv(FIRST, seL4_MessageInfo_new(0, 0, 0, 0), &badge, REPLY);
    }
}

void _camkes_thread(unsigned index)
{
    const uint64_t number = (index >> 8) * UINT64_C(1000);
    switch (index & 255) {
    case WORKER:
        worker();
        break;
    case BUSY:
        for (;;) {
            camkes_host_work(1000000000);
        }
    case CLIENT:
        client(number);
        break;
    case SERVER:
        server();
        break;
    case REPORTER:
        reporter();
        break;
    default:
        break;
    }
}
