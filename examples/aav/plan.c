/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>

/* One of two is always complete. */
static int versions[2];
static int current;

int plan_get(void)
{
    camkes_work(CAMKES_US(100));
    return versions[current];
}

void plan_set(int waypoint)
{
    versions[!current] = waypoint;
    camkes_work(CAMKES_US(400));
    current = !current;
}

/* The budget of a request is used up: what it has written does not count. */
void plan__rollback(void)
{
    versions[!current] = versions[current];
}
