/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* What a reading itself costs is the row "counter". The last line is "overheads: end". */
#include <camkes.h>
#include <measure.h>

#define CLOCK(name) MEASURE(#name, , s->middle = name##_now(0))
#define CONTENDED(name) MEASURE("contended_" #name, name##_held_wait(), s->middle = name##_now(0))
/* holds the lock when `client` asks for it; the result is the time when it can go on */
#define HOLD(name) MEASURE("holder_" #name, , s->middle = name##_now(1))

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
        HOLD(inherited);
        HOLD(inherited_inherited);
        (void)bare_now(0), (void)plain_now(0), (void)fixed_now(0), (void)propagated_now(0);
        (void)plain_plain_now(0), (void)inherited_propagated_now(0), shapes_none();
        (void)bare_out_out3(&(uint64_t){0}, &(uint64_t){0}, &(uint64_t){0});
        (void)upstream_now(0), (void)upstream_upstream_now(0);
        printf("overheads: end\n");
        return 0;
    }
    MEASURE("counter", , s->middle = cycles());
    CLOCK(bare);
    CLOCK(plain);
    shapes();
    CLOCK(fixed);
    CLOCK(propagated);
    CLOCK(inherited);
    CLOCK(plain_plain);
    CLOCK(upstream);
    CLOCK(upstream_upstream);
    CLOCK(inherited_inherited);
    CLOCK(inherited_propagated);
    CONTENDED(inherited);
    CONTENDED(inherited_inherited);
    return 0;
}
