/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* A CPI with a policy: a request executes for a time, in which the budget can end. */
#include "used.h"

static uint64_t shortest;

void w__init(void)
{
    shortest = shortest_gap();
}

void w_work(uint64_t time)
{
    execute(number, shortest, camkes_now() + time);
}

#ifdef ABORTS
void w__rollback(void)
{
}
#endif
