/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <stdio.h>

int run(void)
{
    const uint64_t period = CAMKES_MS(period_ms);
    uint64_t longest = 0;
    for (uint64_t job = 0; camkes_next_job(); job++) {
        camkes_work(CAMKES_US(work_us));
        record_put((int)job);
        const uint64_t response = camkes_now() - job * period;
        longest = response > longest ? response : longest;
        if ((job + 1) % (uint64_t)jobs_a_line == 0) {
            printf("%s: %u jobs, the longest response of the last %d was %u us\n",
                   get_instance_name(), (unsigned)(job + 1), jobs_a_line,
                   (unsigned)(longest / 1000));
            longest = 0;
        }
    }
    return 0;
}
