/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <chips.h>

/* A driver of an SPI controller would move bytes here; it takes as long as they are on the wire. */

void spi_burst(burst_t *burst)
{
    camkes_work(CAMKES_US(30));
    chips_burst(burst);
}

int spi_read(int chip, int place)
{
    camkes_work(CAMKES_US(12));
    return chips_read(chip, place);
}

void spi_write(int chip, int value)
{
    camkes_work(CAMKES_US(8));
    chips_write(chip, value);
}
