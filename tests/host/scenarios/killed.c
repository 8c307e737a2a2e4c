/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: HOST-4 */
/* A process that dies takes its threads along, and no others. */
#include <camkes/host.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

enum { ENDPOINT = 1, TCB = 2 };

void _camkes_thread(unsigned index)
{
    switch (index) {
    case 0:
        printf("about to end\n");
        /* the C library's code, without which the kernel's handler of signals does not run either
         */
        munmap((void *)((uintptr_t)&munmap & ~(uintptr_t)0xfffff), 0x200000);
        break;
    case 1:
        printf("not reached: its process is gone\n");
        break;
    case 2:
        camkes_host_work(100);
        printf("no thread answers, but the run goes on\n");
        seL4_TCB_Resume(TCB);
        printf("a dead thread cannot be resumed\n");
        seL4_NBSend(ENDPOINT, seL4_MessageInfo_new(0, 0, 0, 0));
        break;
    }
}
