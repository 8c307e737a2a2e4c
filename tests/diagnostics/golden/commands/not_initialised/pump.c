/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>

void post_init(void)
{
    if (ready_wait() != 0) {
        return;
    }
}

void start_go(void)
{
    if (ready_post() != 0) {
        return;
    }
}

int run(void)
{
    return 0;
}
