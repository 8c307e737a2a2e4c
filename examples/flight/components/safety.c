/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <flight.h>

#define MOST_IMPLAUSIBLE 3 /* samples in a row */

int run(void)
{
    bool stopped = false;
    while (camkes_next_job()) {
        attitude_t attitude;
        vehicle_get_attitude(&attitude);
        camkes_work(CAMKES_US(10));
        entry_t entry = {.number = attitude.number, .alarm = ENTRY_IMPLAUSIBLE};
        /* Other alarms are of a tilt from which it cannot come back. */
        if (!stopped && (attitude.implausible == 0 || attitude.implausible >= MOST_IMPLAUSIBLE)) {
            output_stop();
            stopped = true;
            entry.alarm = ENTRY_STOPPED;
        }
        log_put(entry);
    }
    return 0;
}
