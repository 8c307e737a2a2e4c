/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <stdio.h>

int run(void)
{
    while (camkes_next_job()) {
        printf("item %d\n", buffer_get());
    }
    return 0;
}
