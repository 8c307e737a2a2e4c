/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <stdio.h>

int run(void)
{
    for (int job = 1; job <= 2 && camkes_next_job(); job++) {
        camkes_work(CAMKES_MS(1));
        int result = p_pow(base, job + 1);
        camkes_work(CAMKES_MS(1));
        printf("%s: %d to the power of %d is %d\n", get_instance_name(), base, job + 1, result);
    }
    return 0;
}
