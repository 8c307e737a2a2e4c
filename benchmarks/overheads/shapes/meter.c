/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Measures events as client.c measures requests. */
#include <camkes.h>
#include <measure.h>

#define ROWS(who)                                                                                  \
    do {                                                                                           \
        MEASURE(#who "_emit", , who##_unread_emit());                                              \
        MEASURE(#who "_waited", , who##_waited_emit());                                            \
        MEASURE(#who "_called", , who##_called_emit());                                            \
        MEASURE(#who "_poll_none", , (void)who##_pong_poll());                                     \
        MEASURE(#who "_poll", who##_ping_emit(), (void)who##_pong_poll());                         \
        MEASURE(#who "_wait", who##_ping_emit(), who##_pong_wait());                               \
    } while (0)

int run(void)
{
    ROWS(ours);
    ROWS(theirs);
    return 0;
}
