/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>

void log_add(int value)
{
    for (;;) {
        camkes_work(CAMKES_US(value));
    }
}
