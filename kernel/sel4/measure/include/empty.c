/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* A job does nothing: all that it costs is its release. */
#include <camkes.h>

int run(void)
{
    while (camkes_next_job()) {
    }
    return 0;
}
