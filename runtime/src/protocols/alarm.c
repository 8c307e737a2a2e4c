/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The thread that waits for the timer of a group, whose manager waits for messages. */
#include "nested.h"

#include <camkes/condition.h>
#include <camkes/label.h>

void camkes_await_timer(struct camkes_thread *self)
{
    const struct camkes_group *group = self->interface;
    for (;;) {
        seL4_Wait(group->fired, NULL);
        camkes_point();
        camkes_ask_manager(group->manager_timer, 0, self->name);
        camkes_point();
    }
}
