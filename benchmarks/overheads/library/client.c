/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <measure.h>

#define CLOCK(name) MEASURE("library_" #name, , s->middle = name##_now(0, _priority))

int run(void)
{
    if (!measures) {
        MEASURE("holder", , s->middle = inherited_now(1, _priority));
        measure_say("end");
        return 0;
    }
    MEASURE("counter", , s->middle = cycles());
    CLOCK(plain);
    CLOCK(fixed);
    CLOCK(propagated);
    CLOCK(inherited);
    MEASURE("library_contended", inherited_held_wait(), s->middle = inherited_now(0, _priority));
    return 0;
}
