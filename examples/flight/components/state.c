/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <flight.h>

static attitude_t now;
static vertical_t height = {.thrust = 1};
static command_t wanted = {.altitude = 10};

void vehicle_put_attitude(attitude_t attitude)
{
    camkes_work(CAMKES_US(5));
    now = attitude;
}

void vehicle_get_attitude(attitude_t *attitude)
{
    camkes_work(CAMKES_US(5));
    *attitude = now;
}

void vehicle_put_vertical(vertical_t vertical)
{
    camkes_work(CAMKES_US(5));
    height = vertical;
}

void vehicle_get_vertical(vertical_t *vertical)
{
    camkes_work(CAMKES_US(5));
    *vertical = height;
}

void vehicle_put_command(command_t command)
{
    camkes_work(CAMKES_US(5));
    wanted = command;
}

void vehicle_get_command(command_t *command)
{
    camkes_work(CAMKES_US(5));
    *command = wanted;
}
