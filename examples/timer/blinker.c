/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <sel4/sel4.h>
#include <stdio.h>

enum { BLINK, ALARM };

/* The connector provides the notification that the timers signal. */
seL4_CPtr timeout_notification(void);

int run(void)
{
    int on = 0;
    timeout_periodic(BLINK, CAMKES_MS(250));
    timeout_oneshot_relative(ALARM, CAMKES_MS(900));
    for (;;) {
        seL4_Wait(timeout_notification(), NULL);
        const unsigned done = timeout_completed();
        const int ms = (int)(timeout_time() / CAMKES_MS(1));
        if (done & (1u << BLINK)) {
            on = !on;
            printf("%4d ms: light %s\n", ms, on ? "on" : "off");
        }
        if (done & (1u << ALARM)) {
            printf("%4d ms: alarm\n", ms);
            timeout_stop(BLINK);
            return 0;
        }
    }
}
