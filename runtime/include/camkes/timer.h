/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The timers of a client of the virtual time server, with the semantics of the Timer procedure. */
#pragma once

#include <camkes/platform.h>

struct camkes_timer {
    seL4_CPtr timer;
    uint64_t seen; /* expirations already reported by completed() */
};

struct camkes_timers {
    unsigned count;
    struct camkes_timer *timer;
};

/* All return 0, or -1 if the id is not that of a timer. */
int camkes_timers_periodic(struct camkes_timers *timers, int id, uint64_t ns);
int camkes_timers_oneshot_absolute(struct camkes_timers *timers, int id, uint64_t ns);
int camkes_timers_oneshot_relative(struct camkes_timers *timers, int id, uint64_t ns);
int camkes_timers_stop(struct camkes_timers *timers, int id);
/* Returns a bit for each timer that expired since the last call. */
unsigned camkes_timers_completed(struct camkes_timers *timers);
