/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>

#define PLACES 2

static int items[PLACES];
static unsigned first, count; /* both handlers have the lock of the monitor */

void put_put(int item)
{
    while (count == PLACES) {
        not_full_wait();
    }
    items[(first + count++) % PLACES] = item;
    not_empty_signal();
}

int get_get(void)
{
    while (count == 0) {
        not_empty_wait();
    }
    const int item = items[first];
    first = (first + 1) % PLACES;
    count--;
    not_full_signal();
    return item;
}
