/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes/test.h>
#include <flight.h>
#include <mocks.h>

void pre_init(void)
{
    for (int i = 1; i <= 3; i++) {
        const attitude_t attitude = {.number = (uint32_t)i, .implausible = i};
        mock_vehicle_get_attitude_answer(.attitude = attitude);
    }
    const attitude_t over = {.number = 4, .angle = {RADIANS(70), 0, 0}};
    mock_vehicle_get_attitude_usually(.attitude = over);
}

int run(void)
{
    camkes_case("the motors go on for two samples that are not plausible");
    alarm_emit();
    alarm_emit();
    camkes_expect_equal(mock_output_stop.calls, 0);
    camkes_expect_equal(mock_log_put.call[1].entry.number, 2);
    camkes_expect_equal(mock_log_put.call[1].entry.alarm, ENTRY_IMPLAUSIBLE);

    camkes_case("they stop at the third one, within 50 us");
    alarm_emit();
    camkes_expect_equal(mock_output_stop.calls, 1);
    camkes_expect_equal(mock_log_put.call[2].entry.alarm, ENTRY_STOPPED);
    camkes_expect_response("safety", CAMKES_US(50));

    camkes_case("once is enough");
    alarm_emit();
    camkes_expect_equal(mock_output_stop.calls, 1);
    return 0;
}
