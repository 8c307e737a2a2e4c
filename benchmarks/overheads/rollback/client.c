/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <camkes/realtime.h>
#include <measure.h>

#define RUNS 12

int run(void)
{
    uint64_t taken[RUNS];
    for (int job = 0; job < RUNS && camkes_next_job(); job++) {
        taken[job] = server_work((uint64_t)endless);
    }
    for (int job = 0; job < RUNS && !endless; job++) {
        measure_line("rollback", 0, 0, taken[job]);
    }
    if (!endless) {
        measure_say("end");
    }
    return 0;
}
