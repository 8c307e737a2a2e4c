/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <flight.h>
#include <math.h>

/* A complementary filter: gyroscopes are right about what changes fast, and the direction of gravity about what
 * stays. What is slower than TIME_CONSTANT is taken from gravity. */
#define TIME_CONSTANT 0.5f /* s */
#define TILT_LIMIT RADIANS(60)

static attitude_t attitude;

static void update(const sample_t *seen)
{
    const float weight = TIME_CONSTANT / (TIME_CONSTANT + SAMPLE_SECONDS);
    const float *force = seen->force;
    const float level[2] = {
        atan2f(force[1], force[2]),
        atan2f(-force[0], sqrtf(force[1] * force[1] + force[2] * force[2])),
    };
    const bool first = attitude.number == 0;
    attitude.number = seen->number;
    attitude.implausible = seen->plausible ? 0 : attitude.implausible + 1;
    if (!seen->plausible) { /* it goes on turning as before */
        for (int axis = ROLL; axis <= PITCH; axis++) {
            attitude.angle[axis] += attitude.rate[axis] * SAMPLE_SECONDS;
        }
        return;
    }
    for (int axis = 0; axis < AXES; axis++) {
        attitude.rate[axis] = seen->rate[axis];
    }
    for (int axis = ROLL; axis <= PITCH; axis++) {
        const float turned = attitude.angle[axis] + attitude.rate[axis] * SAMPLE_SECONDS;
        attitude.angle[axis] = first ? level[axis] : weight * turned + (1 - weight) * level[axis];
    }
}

int run(void)
{
    while (camkes_next_job()) {
        sample_acquire();
        const sample_t seen = *sample;
        update(&seen);
        camkes_work(CAMKES_US(80));
        vehicle_put_attitude(attitude);
        const float tilt = fmaxf(fabsf(attitude.angle[ROLL]), fabsf(attitude.angle[PITCH]));
        if (attitude.implausible > 0 || tilt > TILT_LIMIT) {
            alarm_emit();
        }
        estimated_emit();
    }
    return 0;
}
