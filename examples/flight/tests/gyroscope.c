/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes/test.h>
#include <flight.h>
#include <mocks.h>

static attitude_t seen;
static int alarms;

/* In the place of the mock, which would keep 64 calls. */
void vehicle_put_attitude(attitude_t attitude)
{
    seen = attitude;
}

static void emit(sample_t next, int times)
{
    for (int i = 0; i < times; i++) {
        next.number = sample->number + 1;
        *sample = next;
        sample_release();
        sampled_emit(); /* the estimator is more urgent: it has ended when this returns */
        alarms += alarm_poll();
    }
}

int run(void)
{
    /* 0.5 and 0.866 g: 30 degrees to the right, and no rotation */
    const sample_t tilted = {.force = {0, 0.5f, 0.8660254f}, .plausible = true};
    const sample_t level = {.force = {0, 0, 1}, .plausible = true};
    const sample_t turning = {.force = {0, 0, 1}, .rate = {RADIANS(100), 0, 0}, .plausible = true};
    const sample_t saturated = {.force = {0, 0, 1}, .rate = {RADIANS(2000), 0, 0}};
    const sample_t over = {.force = {0, 1, 0}, .plausible = true};

    camkes_case("it begins with the direction of gravity");
    emit(tilted, 1);
    camkes_expect_equal(TENTHS(seen.angle[ROLL]), 300);
    camkes_expect_equal(TENTHS(seen.angle[PITCH]), 0);

    camkes_case("in one time constant, 1/e of an error is left");
    emit(level, 500);
    camkes_expect_equal(TENTHS(seen.angle[ROLL]), 110);
    emit(level, 5000);
    camkes_expect_equal(TENTHS(seen.angle[ROLL]), 0);

    emit(tilted, 500);
    camkes_expect_equal(TENTHS(seen.angle[ROLL]), 190);
    emit(level, 5000);

    camkes_case("what changes fast is that of the gyroscope");
    emit(turning, 50); /* 5 degrees */
    camkes_expect_equal(TENTHS(seen.angle[ROLL]), 48);
    camkes_expect_equal(TENTHS(seen.rate[ROLL]), 1000);
    camkes_expect_equal(alarms, 0);

    camkes_case("what is not plausible is left out, and an alarm");
    emit(saturated, 2);
    camkes_expect_equal(alarms, 2);
    camkes_expect_equal(seen.implausible, 2);
    camkes_expect_equal(TENTHS(seen.rate[ROLL]), 1000);
    camkes_expect_equal(TENTHS(seen.angle[ROLL]), 50);
    emit(level, 1);
    camkes_expect_equal(seen.implausible, 0);
    camkes_expect_equal(alarms, 2);

    camkes_case("so is a tilt from which it cannot come back");
    emit(over, 600);
    camkes_expect(alarms > 2);
    return 0;
}
