/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <camkes/test.h>
#include <flight.h>

/* Waits until a sample is there, and returns what is known then. */
static attitude_t at(uint32_t sample)
{
    attitude_t attitude;
    do {
        camkes_work(CAMKES_MS(1));
        vehicle_get_attitude(&attitude);
    } while (attitude.number < sample);
    return attitude;
}

static bool near(float radians, int tenths)
{
    const int difference = TENTHS(radians) - tenths;
    return difference <= 10 && difference >= -10;
}

int run(void)
{
    camkes_case("it was thrown");
    attitude_t attitude = at(2);
    camkes_expect(near(attitude.angle[ROLL], 213) && near(attitude.angle[PITCH], -112));

    camkes_case("after 0.6 s it is level");
    attitude = at(600);
    camkes_expect(near(attitude.angle[ROLL], 0) && near(attitude.angle[PITCH], 0));

    camkes_case("it follows the pilot");
    const command_t command = {.angle = {RADIANS(-15), RADIANS(8)}};
    vehicle_put_command(command);
    attitude = at(1300);
    camkes_expect(near(attitude.angle[ROLL], -150) && near(attitude.angle[PITCH], 80));

    camkes_case("wrong gains are not accepted");
    gains_t gains;
    parameters_get(&gains);
    gains.p = -1;
    camkes_expect_equal(parameters_set(gains), -1);
    parameters_get(&gains);
    camkes_expect(gains.p > 0 && gains.revision == 0);

    camkes_case("it keeps level with others");
    gains.angle = 8;
    camkes_expect_equal(parameters_set(gains), 0);
    vehicle_put_command((command_t){.altitude = 10});
    attitude = at(1900);
    camkes_expect(near(attitude.angle[ROLL], 0) && near(attitude.angle[PITCH], 0));
    parameters_get(&gains);
    camkes_expect_equal(gains.revision, 1);

    camkes_case("when the motors are stopped it cannot");
    output_stop();
    vehicle_put_command(command);
    attitude = at(2500);
    camkes_expect(!near(attitude.angle[ROLL], -150));
    return 0;
}
