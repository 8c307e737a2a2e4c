/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Measures requests that those of the measuring application are compared with. */
#include <camkes.h>
#include <measure.h>

#define CLOCK(name) MEASURE(#name, , s->middle = name##_now(0))

static void shapes(void)
{
    uint64_t a = 1, b = 2, c = 3;
    MEASURE("shapes_none", , shapes_none());
    MEASURE("shapes_in4", , shapes_in4(a, b, c, 4));
    MEASURE("shapes_out3", , shapes_out3(&a, &b, &c));
    MEASURE("bare_out3", , bare_out_out3(&a, &b, &c));
    MEASURE("shapes_add", , shapes_add(1, 2));
}

int run(void)
{
    if (!measures) {
        (void)bare_now(0), (void)upstream_now(0), (void)upstream_upstream_now(0);
        (void)plain_plain_now(0), (void)inherited_propagated_now(0), shapes_none();
        (void)bare_out_out3(&(uint64_t){0}, &(uint64_t){0}, &(uint64_t){0});
        return 0;
    }
    CLOCK(bare);
    shapes();
    CLOCK(plain_plain);
    CLOCK(upstream);
    CLOCK(upstream_upstream);
    CLOCK(inherited_propagated);
    return 0;
}
