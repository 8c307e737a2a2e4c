/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>

int run(void)
{
    for (int value = first; camkes_next_job(); value++) {
        camkes_work(CAMKES_MS(work_ms));
        topic_publish(value);
    }
    return 0;
}
