/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <flight.h>

#define PLACES 32

static entry_t entries[PLACES];
static unsigned first, count;
static int lost;

void put_put(entry_t entry)
{
    camkes_work(CAMKES_US(5));
    if (count == PLACES) {
        lost++;
        return;
    }
    entries[(first + count++) % PLACES] = entry;
    not_empty_signal();
}

int take_take(entry_t *entry)
{
    while (count == 0) {
        not_empty_wait();
    }
    camkes_work(CAMKES_US(5));
    *entry = entries[first];
    first = (first + 1) % PLACES;
    count--;
    return lost;
}
