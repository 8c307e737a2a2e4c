/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* A client's timers at the virtual time server, with the meaning of the usual Timer procedure. */
#pragma once

#include <camkes/platform.h>

struct camkes_timer {
    seL4_CPtr timer;
    uint64_t seen; /* expirations that completed() told of */
};

struct camkes_timers {
    unsigned count;
    struct camkes_timer *timer;
};

/* All return 0, or -1 for an id that is none. */
int camkes_timers_periodic(struct camkes_timers *timers, int id, uint64_t ns);
int camkes_timers_oneshot_absolute(struct camkes_timers *timers, int id, uint64_t ns);
int camkes_timers_oneshot_relative(struct camkes_timers *timers, int id, uint64_t ns);
int camkes_timers_stop(struct camkes_timers *timers, int id);
/* A bit for each timer that expired since the last time it was asked. */
unsigned camkes_timers_completed(struct camkes_timers *timers);
