/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#pragma once

#include <stdint.h>

/* Axes: a positive roll has the right side down, a positive pitch the nose up. */
enum { ROLL, PITCH, YAW, AXES };

#define RADIANS(degrees) ((float)(degrees) * 0.017453293f)
#define TENTHS(radians) ((int)((radians) * 572.95780f + ((radians) < 0 ? -0.5f : 0.5f))) /* of a degree */

#define SAMPLE_SECONDS 0.001f    /* from one sample of the IMU to the next */
#define NAVIGATION_SECONDS 0.02f /* from one altitude to the next */

/* What the IMU measures. */
typedef struct {
    float rate[AXES];  /* rad/s */
    float force[AXES]; /* specific force, in g */
    uint32_t number;   /* counts samples, so it is the time in ms as well */
    int plausible;     /* no value is at the end of its range */
} sample_t;

typedef struct {
    float angle[AXES]; /* rad; yaw is not observed */
    float rate[AXES];  /* rad/s */
    uint32_t number;   /* of the sample */
    int implausible;   /* so many samples in a row, this one included */
} attitude_t;

typedef struct {
    float altitude; /* m */
    float climb;    /* m/s */
    float thrust;   /* in weights of the vehicle */
} vertical_t;

/* What the pilot wants. */
typedef struct {
    float angle[2]; /* roll and pitch, rad */
    float yaw_rate; /* rad/s */
    float altitude; /* m */
} command_t;

/* A controller of a rate, in a loop for an angle. */
typedef struct {
    float angle;        /* rad/s for a radian */
    float p, i, d;      /* torque, in thousandths of a motor's range, for rad/s */
    uint32_t revision;  /* counts changes */
} gains_t;

typedef struct {
    uint32_t number; /* of the sample */
    int alarm;       /* the motors were stopped, or a sample was not plausible */
    int error;       /* tenths of a degree between what is commanded and what is */
} entry_t;

enum { ENTRY_NORMAL, ENTRY_IMPLAUSIBLE, ENTRY_STOPPED };
