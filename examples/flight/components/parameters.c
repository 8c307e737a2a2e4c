/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <flight.h>

static gains_t current = {.angle = 5, .p = 80, .i = 40, .d = 0.2f};

static bool accepted(const gains_t *gains)
{
    return gains->angle > 0 && gains->angle <= 10 && gains->p > 0 && gains->p <= 200 && gains->i >= 0 && gains->d >= 0;
}

void tuning_get(gains_t *gains)
{
    camkes_work(CAMKES_US(5));
    *gains = current;
}

int tuning_set(gains_t gains)
{
    camkes_work(CAMKES_US(200));
    if (!accepted(&gains)) {
        return -1;
    }
    const uint32_t revision = current.revision + 1;
    current = gains;
    current.revision = revision;
    return 0;
}
