/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* A server that has the request served by the next one. */
#include <camkes.h>

uint64_t p_now(uint64_t release)
{
    return next_now(release);
}
