/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <flight.h>
#include <math.h>

/* Holds the altitude. A barometer shows an altitude with noise and no climb: an alpha-beta filter has both. */
#define ALPHA 0.3f
#define BETA 0.05f
#define SEA_LEVEL 10132500.0f
#define PER_METRE 1201.0f
#define FOR_METRES 0.6f /* weights */
#define FOR_CLIMB 0.5f

int run(void)
{
    vertical_t vertical = {.thrust = 1};
    for (int job = 0; camkes_next_job(); job++) {
        const float shown = (SEA_LEVEL - (float)barometer_pascals()) / PER_METRE;
        command_t command;
        vehicle_get_command(&command);
        if (job == 0) {
            vertical.altitude = shown;
        }
        vertical.altitude += vertical.climb * NAVIGATION_SECONDS;
        const float difference = shown - vertical.altitude;
        vertical.altitude += ALPHA * difference;
        vertical.climb += BETA * difference / NAVIGATION_SECONDS;
        const float wanted = FOR_METRES * (command.altitude - vertical.altitude) - FOR_CLIMB * vertical.climb;
        vertical.thrust = 1 + fmaxf(-0.3f, fminf(0.3f, wanted));
        camkes_work(CAMKES_US(800));
        vehicle_put_vertical(vertical);
    }
    return 0;
}
