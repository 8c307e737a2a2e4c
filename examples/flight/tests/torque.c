/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes/test.h>
#include <flight.h>
#include <mocks.h>

void pre_init(void)
{
    const gains_t gains = {.angle = 5, .p = 80};
    mock_tuning_get_usually(.gains = gains);
    const vertical_t hover = {.thrust = 1};
    mock_vehicle_get_vertical_usually(.vertical = hover);
    const attitude_t level = {.number = 1};
    const attitude_t rolled = {.number = 10, .angle = {RADIANS(-10), 0, 0}};
    const attitude_t returning = {.number = 11, .angle = {RADIANS(-10), 0, 0}, .rate = {RADIANS(50), 0, 0}};
    const attitude_t over = {.number = 12, .angle = {0, RADIANS(80), 0}};
    mock_vehicle_get_attitude_answer(.attitude = level);
    mock_vehicle_get_attitude_answer(.attitude = rolled);
    mock_vehicle_get_attitude_answer(.attitude = returning);
    mock_vehicle_get_attitude_answer(.attitude = over);
}

static void job(int number, int roll, int pitch)
{
    estimated_emit(); /* the controller is more urgent: it has ended when this returns */
    camkes_require(mock_mix_mix.calls == number + 1);
    camkes_expect_equal(mock_mix_mix.call[number].thrust, 500);
    camkes_expect_equal(mock_mix_mix.call[number].roll, roll);
    camkes_expect_equal(mock_mix_mix.call[number].pitch, pitch);
    camkes_expect_equal(mock_mix_mix.call[number].yaw, 0);
}

int run(void)
{
    camkes_case("a level vehicle needs no torque");
    job(0, 0, 0);
    camkes_expect_equal(mock_log_put.calls, 0);

    camkes_case("10 degrees are an error of 50 degrees/s, and 80 times that is the torque");
    job(1, 69, 0);
    camkes_expect_equal(mock_log_put.calls, 1);
    camkes_expect_equal(mock_log_put.call[0].entry.error, 100);

    camkes_case("at 50 degrees/s nothing is left to do");
    job(2, 0, 0);

    camkes_case("a torque has a limit");
    job(3, 0, -200);
    return 0;
}
