/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <stdio.h>

int run(void)
{
    int waypoint = 0;
    while (camkes_next_job()) {
        camkes_work(CAMKES_US(work_us));
        int next = plan_get();
        if (next / 100 != waypoint / 100) {
            printf("%s: waypoint %d\n", get_instance_name(), next);
        }
        waypoint = next;
    }
    return 0;
}
