/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* What a reading itself costs is the row "counter". */
#include <camkes.h>
#include <measure.h>

#define CLOCK(name) MEASURE(#name, , s->middle = name##_now(0))
#define CONTENDED(name) MEASURE("contended_" #name, name##_held_wait(), s->middle = name##_now(0))
/* holds the lock when `client` asks for it; the result is the time when it can go on */
#define HOLD(name) MEASURE("holder_" #name, , s->middle = name##_now(1))

/* until the task that the event releases waits for the next one, if that executes before */
#define EVENT(name) MEASURE(#name, , name##_emit())

int run(void)
{
    if (!measures) {
        HOLD(inherited);
        HOLD(inherited_inherited);
        HOLD(fixed);
        (void)plain_now(0), (void)fixed_now(0), (void)propagated_now(0);
        return 0;
    }
    measure_begin();
    MEASURE("counter", , s->middle = cycles());
    CLOCK(plain);
    CLOCK(fixed);
    CLOCK(propagated);
    CLOCK(inherited);
    CLOCK(inherited_inherited);
    CONTENDED(inherited);
    CONTENDED(inherited_inherited);
    CONTENDED(fixed);
    EVENT(released);
    EVENT(emitted);
    return 0;
}
