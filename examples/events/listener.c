/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <stdio.h>

static int heard;

static void on_tick(void *cookie)
{
    heard++;
    printf("listener: called back %d\n", heard);
    tick_reg_callback(on_tick, cookie);
    done_emit();
}

void post_init(void)
{
    tick_reg_callback(on_tick, NULL);
}
