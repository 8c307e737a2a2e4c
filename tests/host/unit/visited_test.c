/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: HOST-13 */
/* A state is new once, however many there are, whichever process adds it, and with whatever digest.
 */
#include "search/search.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STATES = 300000 /* more than two tables have */, PROCESSES = 3, ALIKE = 40, LEFT = 5 };

struct progress *progress;

void *parts_map(size_t size)
{
    void *place =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED) {
        perror("parts_map");
        exit(1);
    }
    return place;
}

static void need(bool good, const char *what)
{
    if (!good) {
        printf("%s\n", what);
        exit(1);
    }
}

static struct digest spread(uint64_t number)
{
    return (struct digest){number * 0x9e3779b97f4a7c15u, (number * 0xbf58476d1ce4e5b9u) << 8};
}

/* Many have the same places. */
static struct digest alike(uint64_t number)
{
    return (struct digest){number / ALIKE * 64, (number + 1) << 8};
}

static uint64_t add_all(struct digest (*digest)(uint64_t), uint64_t count, unsigned left)
{
    uint64_t fresh = 0;
    for (uint64_t i = 0; i < count; i++) {
        fresh += visited_add(digest(i), left);
    }
    return fresh;
}

static void processes_share_them(void)
{
    _Atomic uint64_t *fresh = parts_map(sizeof *fresh);
    for (unsigned i = 0; i < PROCESSES; i++) {
        const pid_t child = fork();
        need(child >= 0, "a process");
        if (child == 0) {
            *fresh += add_all(spread, STATES, LEFT);
            _exit(0);
        }
    }
    while (wait(NULL) > 0) {
    }
    need(*fresh == STATES, "several processes: each state is new to exactly one of them");
    need(add_all(spread, STATES, LEFT) == 0, "the states of other processes were seen");
}

int main(void)
{
    struct progress own = {0};
    progress = &own;
    visited_initialise();
    need(add_all(spread, STATES, LEFT) == STATES && own.distinct == STATES, "each state is new");
    need(add_all(spread, STATES, LEFT) == 0, "none of them is new again");
    need(add_all(spread, STATES, LEFT - 1) == 0, "nor with less left");
    need(add_all(spread, STATES, LEFT + 1) == STATES, "each is searched again with more left");
    need(add_all(spread, STATES, LEFT + 1) == 0 && own.distinct == STATES, "and only once");
    visited_forget();
    need(own.distinct == 0 && add_all(alike, STATES / 10, LEFT) == STATES / 10,
         "with equal places");
    need(add_all(alike, STATES / 10, LEFT) == 0, "and they are found");
    visited_forget();
    processes_share_them();
    need(!visited_full(STATES) && visited_full(UINT64_MAX / 2),
         "the tables are full at some number");
    puts("good");
    return 0;
}
