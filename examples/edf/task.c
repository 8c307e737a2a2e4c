/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <camkes/realtime.h>

int run(void)
{
    const int period = get_instance_name()[0] == 'a' ? 5 : 7;
    for (int job = 0; job < 35 / period && camkes_next_job(); job++) {
        camkes_work(CAMKES_MS(work));
        const int end = (int)(camkes_now() / CAMKES_MS(1));
        if (end > (job + 1) * period) {
            printf("%s: job %d ends at %d ms, its deadline was %d ms\n", get_instance_name(), job,
                   end, (job + 1) * period);
        }
    }
    return 0;
}
