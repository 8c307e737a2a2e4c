/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#pragma once

#include <stdint.h>

/* The chips at the SPI bus, and what their registers hold. */
enum { CHIP_IMU, CHIP_BAROMETER };
enum { BAROMETER_CONVERT, BAROMETER_PRESSURE, BAROMETER_TEMPERATURE };

#define GYRO_UNITS 939.65f  /* of a rad/s: 16.4 of a degree/s */
#define FORCE_UNITS 2048.0f /* of a g */
#define END_OF_RANGE 32767

typedef struct {
    int16_t gyro[3];
    int16_t force[3];
} burst_t;
