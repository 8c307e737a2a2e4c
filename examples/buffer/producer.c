/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>

int run(void)
{
    for (int item = 1; camkes_next_job(); item++) {
        camkes_work(CAMKES_MS(2));
        buffer_put(item);
    }
    return 0;
}
