/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Every other job needs `longer`, more than the budget. One that is stopped was counted before. */
#include "used.h"

int run(void)
{
    static uint64_t shortest, job;
    if (shortest == 0) {
        shortest = shortest_gap();
    }
    while (camkes_next_job()) {
        const uint64_t time = job++ % 2 == 0 ? brief : longer;
        if (asks) {
            cpi_work(time);
        } else {
            execute(number, shortest, camkes_now() + time);
        }
    }
    return 0;
}
