/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Requests the lock whenever it is held. The client of the highest priority comes last and is
 * served first: that one is measured, after all else. */
#include <camkes.h>
#include <measure.h>

int run(void)
{
    while (!measures) {
        held_wait();
        (void)lock_now(0);
    }
#ifdef ALONE
    MEASURE("counter", , s->middle = cycles());
#endif
    MEASURE("queued", held_wait(), s->middle = lock_now(0));
    measure_say("end");
    return 0;
}
