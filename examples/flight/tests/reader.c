/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <camkes/test.h>

int run(void)
{
    camkes_case("20 degrees need no correction");
    camkes_expect_equal(barometer_pascals(), 10000000);

    camkes_case("25 degrees do");
    camkes_expect_equal(barometer_pascals(), 9999000);
    return 0;
}
