/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <chips.h>

/* A conversion and its two results belong together: no other request may come between them. */
int pressure_pascals(void)
{
    bus_write(CHIP_BAROMETER, BAROMETER_CONVERT);
    camkes_work(CAMKES_US(20));
    const int64_t shown = bus_read(CHIP_BAROMETER, BAROMETER_PRESSURE);
    const int64_t warmth = bus_read(CHIP_BAROMETER, BAROMETER_TEMPERATURE) - 2000;
    return (int)(shown - shown * warmth / 5000000);
}
