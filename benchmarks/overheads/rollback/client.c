/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The last line is "overheads: end". */
#include <camkes.h>
#include <camkes/realtime.h>
#include <inttypes.h>
#include <stdio.h>

#define RUNS 12

int run(void)
{
    uint64_t taken[RUNS];
    for (int job = 0; job < RUNS && camkes_next_job(); job++) {
        taken[job] = server_work((uint64_t)endless);
    }
    for (int job = 0; job < RUNS && !endless; job++) {
        printf("overheads: rollback 0 0 %" PRIu64 "\n", taken[job]);
    }
    if (!endless) {
        printf("overheads: end\n");
    }
    return 0;
}
