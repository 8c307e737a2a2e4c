/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <chips.h>
#include <flight.h>
#include <math.h>

/* A quadcopter, of which only what the sensors see matters. It moves by one sample whenever the IMU is read, so
 * what happens depends on the software alone, and not on the machine's time. */

#define MOTORS 4
#define MOTOR_LAG 0.02f     /* s */
#define TORQUE 60.0f        /* rad/s^2 for motors at opposite ends of their range */
#define YAW_TORQUE 10.0f
#define DAMPING 0.5f        /* 1/s */
#define GRAVITY 9.81f       /* m/s^2 */
#define DRAG 0.4f           /* 1/s */
#define GYRO_BIAS 0.009f    /* rad/s: half a degree per second */
#define FAULTY_SAMPLE 300   /* the gyroscope is at the end of its range, once */
#define SEA_LEVEL 10132500  /* hundredths of a pascal */
#define PER_METRE 1201      /* hundredths of a pascal */
#define TEMPERATURE 2350    /* hundredths of a degree Celsius */

static float angle[AXES] = {RADIANS(20), RADIANS(-12), 0}; /* it was thrown */
static float rate[AXES];
static float altitude = 10, climb;
static float speed[MOTORS] = {500, 500, 500, 500}, wanted[MOTORS] = {500, 500, 500, 500};
static unsigned number;
static int pressure; /* of the last conversion */

static uint32_t imu_noise = 1, barometer_noise = 1;

/* Noise of at most `amplitude`, the same in each run. */
static float noise(uint32_t *state, float amplitude)
{
    *state = *state * 1664525u + 1013904223u;
    return amplitude * ((float)(*state >> 16) / 32768.0f - 1.0f);
}

static void move(void)
{
    for (int i = 0; i < MOTORS; i++) {
        speed[i] += (wanted[i] - speed[i]) * SAMPLE_SECONDS / MOTOR_LAG;
    }
    const float torque[AXES] = {
        TORQUE * (speed[1] + speed[2] - speed[0] - speed[3]) / 1000.0f,
        TORQUE * (speed[0] + speed[2] - speed[1] - speed[3]) / 1000.0f,
        YAW_TORQUE * (speed[0] + speed[1] - speed[2] - speed[3]) / 1000.0f,
    };
    for (int axis = 0; axis < AXES; axis++) {
        rate[axis] += (torque[axis] - DAMPING * rate[axis]) * SAMPLE_SECONDS;
        angle[axis] += rate[axis] * SAMPLE_SECONDS;
    }
    const float weights = (speed[0] + speed[1] + speed[2] + speed[3]) / 2000.0f;
    const float upwards = weights * cosf(angle[ROLL]) * cosf(angle[PITCH]);
    climb += (GRAVITY * (upwards - 1.0f) - DRAG * climb) * SAMPLE_SECONDS;
    altitude += climb * SAMPLE_SECONDS;
    number++;
}

static int16_t measured(float value, float units, float amplitude)
{
    return (int16_t)fmaxf(-END_OF_RANGE, fminf(END_OF_RANGE, (value + noise(&imu_noise, amplitude)) * units));
}

void chips_burst(burst_t *burst)
{
    move();
    const float force[AXES] = {
        -sinf(angle[PITCH]),
        sinf(angle[ROLL]) * cosf(angle[PITCH]),
        cosf(angle[ROLL]) * cosf(angle[PITCH]),
    };
    for (int axis = 0; axis < AXES; axis++) {
        burst->gyro[axis] = measured(rate[axis] + GYRO_BIAS, GYRO_UNITS, 0.02f);
        burst->force[axis] = measured(force[axis], FORCE_UNITS, 0.05f);
    }
    if (number == FAULTY_SAMPLE) {
        burst->gyro[ROLL] = END_OF_RANGE;
    }
}

int chips_read(int chip, int place)
{
    if (chip != CHIP_BAROMETER) {
        return 0;
    }
    return place == BAROMETER_PRESSURE ? pressure : place == BAROMETER_TEMPERATURE ? TEMPERATURE : 0;
}

void chips_write(int chip, int value)
{
    if (chip == CHIP_BAROMETER && value == BAROMETER_CONVERT) {
        /* The chip is warm and shows 0.2 % too much for each degree above 20. */
        const float shown = (SEA_LEVEL - altitude * PER_METRE) * (1.0f + 0.00002f * (TEMPERATURE - 2000) / 100.0f);
        pressure = (int)(shown + noise(&barometer_noise, 50));
    }
}

void motors_set(int m0, int m1, int m2, int m3)
{
    wanted[0] = (float)m0;
    wanted[1] = (float)m1;
    wanted[2] = (float)m2;
    wanted[3] = (float)m3;
}
