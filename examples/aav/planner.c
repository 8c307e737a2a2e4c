/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>

int run(void)
{
    for (int job = 1; camkes_next_job(); job++) {
        const bool worst = worst_every > 0 && job % worst_every == 0;
        camkes_work(CAMKES_US(worst ? worst_us : work_us));
        do { /* again, with the budget of a raised criticality */
            plan_set(plan_get() + step);
        } while (camkes_request_aborted());
    }
    return 0;
}
