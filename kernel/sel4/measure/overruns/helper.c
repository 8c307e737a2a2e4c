/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Waits for the lock, and pays for its holder if that has no budget. */
#include <camkes.h>

int run(void)
{
    while (camkes_next_job()) {
        cpi_work(0);
    }
    return 0;
}
