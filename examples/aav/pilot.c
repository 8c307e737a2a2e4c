/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <stdio.h>

int run(void)
{
    int waypoint = 0;
    for (int job = 1; camkes_next_job(); job++) {
        const bool worst = worst_every > 0 && job % worst_every == 0;
        camkes_work(CAMKES_US(worst ? worst_us : work_us));
        int next;
        do { /* again, with the budget of a raised criticality */
            next = plan_get();
        } while (camkes_request_aborted());
        if (next / 100 != waypoint / 100) {
            printf("%s: waypoint %d\n", get_instance_name(), next);
        }
        waypoint = next;
    }
    return 0;
}
