/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Waits for one event, has callbacks for two others, and answers one of these with an event. */
#include <camkes.h>

static void call(void *argument)
{
    (void)argument;
    (void)called_reg_callback(call, NULL);
}

static void answer(void *argument)
{
    (void)argument;
    pong_emit();
    (void)ping_reg_callback(answer, NULL);
}

int run(void)
{
    (void)called_reg_callback(call, NULL);
    (void)ping_reg_callback(answer, NULL);
    for (;;) {
        waited_wait();
    }
}
