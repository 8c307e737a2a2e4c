/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* What the parts of the attack share (attack.c). */
#pragma once

#include <stdio.h>
#include <sys/types.h>

/* What the driver has made, outside the folder that may be written. */
struct world {
    const char *file;     /* a file of the user's */
    const char *folder;   /* the one that it is in */
    const char *socket;   /* of datagrams */
    const char *terminal; /* of the user's */
    pid_t process;
    int segment, queue, semaphore; /* System V */
    const char *posix_queue;
};

extern struct world world;
extern FILE *results;

/* Writes the results of what would have an effect on the world. */
void try_named(void);
