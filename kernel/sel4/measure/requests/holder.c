/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Holds the lock when the clients are released, one after the other. */
#include <camkes.h>

int run(void)
{
    for (;;) {
        (void)lock_now(1);
    }
}
