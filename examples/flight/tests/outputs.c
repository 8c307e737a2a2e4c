/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes/test.h>
#include <mocks.h>

static void expect(int call, int m0, int m1, int m2, int m3)
{
    camkes_expect_equal(mock_output_set.call[call].m0, m0);
    camkes_expect_equal(mock_output_set.call[call].m1, m1);
    camkes_expect_equal(mock_output_set.call[call].m2, m2);
    camkes_expect_equal(mock_output_set.call[call].m3, m3);
}

int run(void)
{
    camkes_require(mock_output_set.calls == 6);

    camkes_case("each torque has its motors");
    expect(0, 490, 510, 510, 490);
    expect(1, 510, 490, 510, 490);
    expect(2, 510, 510, 490, 490);

    camkes_case("attitude comes before altitude");
    expect(3, 800, 1000, 1000, 800);
    expect(4, 200, 0, 200, 0);

    camkes_case("no motor gets more than there is");
    expect(5, 0, 1000, 1000, 0);
    return 0;
}
