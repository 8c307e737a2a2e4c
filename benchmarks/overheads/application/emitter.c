/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Measures as client.c does, while `client` waits for a lock to be held. */
#include <camkes.h>
#include <measure.h>

#define EMIT(name) MEASURE(#name, , name##_emit())

int run(void)
{
    EMIT(event);
    EMIT(event_helpers);
    EMIT(delivered);
    EMIT(delivered_helpers);
    return 0;
}
