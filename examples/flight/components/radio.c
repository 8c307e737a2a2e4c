/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <flight.h>

/* What the pilot does. A receiver would bring it. */
static const struct {
    int frame; /* of 20 ms, from which on it holds */
    command_t command;
} sticks[] = {
    {0, {{0, 0}, 0, 10.5f}},
    {25, {{RADIANS(10), 0}, 0, 10.5f}},
    {40, {{RADIANS(10), RADIANS(-5)}, 0.5f, 11}},
};

int run(void)
{
    unsigned at = 0;
    for (int frame = 0; camkes_next_job(); frame++) {
        camkes_work(CAMKES_US(300));
        if (at + 1 < sizeof sticks / sizeof *sticks && sticks[at + 1].frame <= frame) {
            at++;
        }
        vehicle_put_command(sticks[at].command);
    }
    return 0;
}
