/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>

static int current;
static int next; /* is computed while requests see `current` */

int plan_get(void)
{
    camkes_work(CAMKES_US(100));
    return current;
}

void plan_set(int waypoint)
{
    next = waypoint;
    camkes_work(CAMKES_US(400));
    current = next;
}

/* The budget of a request was used up. */
void plan__rollback(void)
{
    next = current;
}
