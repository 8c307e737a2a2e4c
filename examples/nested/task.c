/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <stdio.h>

int run(void)
{
    for (int job = 0; job < 2 && camkes_next_job(); job++) {
        camkes_work(CAMKES_US(before_us));
        int result = r_compute(value + 10 * job);
        camkes_work(CAMKES_US(after_us));
        printf("%s: job %d computed %d\n", get_instance_name(), job, result);
    }
    return 0;
}
