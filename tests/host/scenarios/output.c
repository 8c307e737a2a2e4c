/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: HOST-25 */
/* Output appears line by line in the order of the run, whoever prints and however. */
#include <camkes/host.h>
#include <stdio.h>

void _camkes_thread(unsigned index)
{
    for (int i = 0; i < 2; i++) {
        printf("thread %u ", index);
        camkes_host_work(5);
        fprintf(index == 1 ? stderr : stdout, "goes on %d\n", i);
    }
    seL4_DebugPutString("with the kernel's own function\n");
    seL4_DebugPutChar('.');
    printf(" unfinished line of %u; ", index);
}
