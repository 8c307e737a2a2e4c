/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The thread that waits for the timer of a group or a scheduler, which waits for messages. */
#include "../core/managers.h"

#include <camkes/condition.h>

void camkes_await_timer(struct camkes_thread *self)
{
    const struct camkes_alarm *alarm = self->interface;
    for (;;) {
        seL4_Wait(alarm->fired, NULL);
        camkes_ask_manager(alarm->manager, 0, self->name);
    }
}
