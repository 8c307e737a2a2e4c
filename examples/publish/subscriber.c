/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <stdio.h>

int run(void)
{
    while (camkes_next_job()) {
        message_wait();
        printf("%s: %d\n", get_instance_name(), topic->value);
        camkes_work(CAMKES_MS(work_ms));
    }
    return 0;
}
