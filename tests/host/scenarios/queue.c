/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: HOST-2 */
/* Threads of equal priority. queue.table: first in, first out, each runs until it stops by itself.
 * slices.table: round robin by time slices; the slice of a thread that waits is kept. */
#include <camkes/host.h>
#include <stdio.h>

void _camkes_thread(unsigned index)
{
    static const uint64_t WORK[] = {2500, 1500, 1000};
    for (int i = 0; i < 2; i++) {
        camkes_host_work(WORK[index]);
        printf("%6d thread %u, part %d\n", (int)camkes_host_now(), index, i);
    }
    if (index == 2) {
        seL4_Yield();
        printf("%6d thread 2 yielded\n", (int)camkes_host_now());
    }
}
