/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <camkes/test.h>
#include <flight.h>

int run(void)
{
    camkes_case("what has no place is lost, and counted");
    for (uint32_t number = 1; number <= 40; number++) {
        const entry_t entry = {.number = number};
        put_put(entry);
    }

    camkes_case("the first 32 come out in their order");
    for (uint32_t number = 1; number <= 32; number++) {
        entry_t entry;
        camkes_expect_equal(take_take(&entry), 8);
        camkes_expect_equal(entry.number, number);
    }

    camkes_case("then there is place again");
    const entry_t entry = {.number = 41};
    entry_t taken;
    put_put(entry);
    camkes_expect_equal(take_take(&taken), 8);
    camkes_expect_equal(taken.number, 41);
    return 0;
}
