/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes/test.h>
#include <chips.h>
#include <mocks.h>

void pre_init(void)
{
    mock_spi_read_answer(.result = 10000000); /* the pressure, and then the temperature */
    mock_spi_read_answer(.result = 2000);
    mock_spi_read_answer(.result = 10000000);
    mock_spi_read_answer(.result = 2500);
}

int run(void)
{
    camkes_case("a conversion comes before its results");
    camkes_require(mock_spi_write.calls == 2 && mock_spi_read.calls == 4);
    camkes_expect_equal(mock_spi_write.call[0].chip, CHIP_BAROMETER);
    camkes_expect_equal(mock_spi_write.call[0].value, BAROMETER_CONVERT);
    camkes_expect_equal(mock_spi_read.call[0].place, BAROMETER_PRESSURE);
    camkes_expect_equal(mock_spi_read.call[1].place, BAROMETER_TEMPERATURE);
    camkes_expect(mock_spi_write.call[0].time < mock_spi_read.call[0].time);
    camkes_expect(mock_spi_read.call[1].time <= mock_spi_write.call[1].time);
    return 0;
}
