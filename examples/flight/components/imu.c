/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <chips.h>
#include <flight.h>

static bool in_range(int value)
{
    return value < END_OF_RANGE && value > -END_OF_RANGE;
}

int run(void)
{
    for (uint32_t number = 1; camkes_next_job(); number++) {
        burst_t burst;
        bus_burst(&burst);
        camkes_work(CAMKES_US(20));
        sample_t next = {.number = number, .plausible = true};
        for (int axis = 0; axis < AXES; axis++) {
            next.rate[axis] = (float)burst.gyro[axis] / GYRO_UNITS;
            next.force[axis] = (float)burst.force[axis] / FORCE_UNITS;
            next.plausible = next.plausible && in_range(burst.gyro[axis]) && in_range(burst.force[axis]);
        }
        *sample = next;
        sample_release();
        sampled_emit();
    }
    return 0;
}
