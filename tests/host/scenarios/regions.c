/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: HOST-5 */
/* Shared memory is behind a symbol of each component; a read-only one cannot be written. */
#include <camkes/host.h>
#include <stdio.h>

enum { NOTE = 1 };

static char before[4096] __attribute__((aligned(4096)));
char shared[3 * 4096] __attribute__((aligned(4096))); /* larger than the region */
static char after[4096] __attribute__((aligned(4096)));

void _camkes_thread(unsigned index)
{
    before[1] = after[1] = 1;
    if (index == 0) {
        snprintf(shared + 4096, 100, "written by the first");
        seL4_Signal(NOTE);
        camkes_host_work(10);
        printf("the first reads: %s\n", shared);
    } else {
        seL4_Wait(NOTE, NULL);
        printf("thread %u reads: %s\n", index, shared + 4096);
        snprintf(shared, 100, "written by %u", index);
        printf("written by thread %u\n", index);
        seL4_Signal(NOTE);
    }
}
