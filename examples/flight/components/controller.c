/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <flight.h>
#include <math.h>

/* An angle is controlled by a rate, and this by a torque. */
#define MOST_RATE 4.0f     /* rad/s */
#define MOST_TORQUE 200.0f /* thousandths of a motor's range */
#define HOVER 500.0f
#define ENTRY_EVERY 10     /* samples */

static float integral[AXES], before[AXES];

static float limited(float value, float most)
{
    return fmaxf(-most, fminf(most, value));
}

static float torque(const gains_t *gains, int axis, float wanted, float rate)
{
    const float error = wanted - rate;
    /* Of the rate alone: a new command must not be an impulse. */
    const float slope = (before[axis] - rate) / SAMPLE_SECONDS;
    const float next = integral[axis] + error * SAMPLE_SECONDS;
    const float result = gains->p * error + gains->i * next + gains->d * slope;
    before[axis] = rate;
    if (fabsf(result) < MOST_TORQUE) { /* else it would only grow */
        integral[axis] = next;
    }
    return limited(result, MOST_TORQUE);
}

int run(void)
{
    while (camkes_next_job()) {
        attitude_t attitude;
        vertical_t vertical;
        command_t command;
        gains_t gains;
        vehicle_get_attitude(&attitude);
        vehicle_get_vertical(&vertical);
        vehicle_get_command(&command);
        parameters_get(&gains);

        float error = 0, output[AXES];
        for (int axis = ROLL; axis <= PITCH; axis++) {
            const float off = command.angle[axis] - attitude.angle[axis];
            error = fmaxf(error, fabsf(off));
            output[axis] = torque(&gains, axis, limited(gains.angle * off, MOST_RATE), attitude.rate[axis]);
        }
        output[YAW] = torque(&gains, YAW, command.yaw_rate, attitude.rate[YAW]);
        camkes_work(CAMKES_US(60));
        mixer_mix((int)(vertical.thrust * HOVER), (int)output[ROLL], (int)output[PITCH], (int)output[YAW]);
        if (attitude.number % ENTRY_EVERY == 0) {
            const entry_t entry = {.number = attitude.number, .error = TENTHS(error)};
            log_put(entry);
        }
    }
    return 0;
}
