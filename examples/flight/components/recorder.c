/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <flight.h>
#include <stdio.h>

#define PAGE 16 /* entries that are written at once */

int run(void)
{
    for (int count = 0, most = 0;;) {
        entry_t entry;
        const int lost = log_take(&entry);
        if (entry.alarm != ENTRY_NORMAL) {
            printf("%4u ms: %s\n", (unsigned)entry.number,
                   entry.alarm == ENTRY_STOPPED ? "motors stopped" : "a sample is not plausible");
            continue;
        }
        most = entry.error > most ? entry.error : most;
        if (++count == PAGE) {
            camkes_work(CAMKES_MS(3)); /* flash is slow */
            printf("%4u ms: recorded, %d lost, error at most %.1f degrees\n", (unsigned)entry.number, lost,
                   most / 10.0);
            count = most = 0;
        }
    }
}
