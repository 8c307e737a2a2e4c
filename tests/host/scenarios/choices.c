/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: HOST-3 */
/* What is left open: ties among equals, durations, late timers, preemption points. */
#include <camkes/host.h>
#include <stdio.h>

enum { NOTE = 1 };

void _camkes_thread(unsigned index)
{
    if (index == 9) {
        for (int i = 0; i < 3; i++) {
            seL4_Wait(NOTE, NULL);
            printf("%5d tick\n", (int)camkes_host_now());
        }
        return;
    }
    for (int i = 0; i < 2; i++) {
        camkes_host_point();
        camkes_host_work_between(100, 200);
        printf("%5d thread %u\n", (int)camkes_host_now(), index);
    }
}
