/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Attacks what is around a sandbox, from inside. It has to be confined (a filter of system calls
 * and no new privileges): otherwise it does nothing and ends with status 3.
 *
 *   attack named WORLD    tries what would have an effect on the things of the driver
 * (test_attacks.py) attack sweep SEED N   makes every system call with N sets of arguments, each in
 * a process of its own
 *
 * It writes the file `results` in the working folder, a line for each try: what, the result, the
 * error (of a sweep: the number of the call, how often it gave that error). After `named` it waits
 * until the file `go` is there, so that the driver sees locks that are held.
 */
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CALLS = 600, MOST_ERRNO = 134, KINDS = MOST_ERRNO + 2, PATIENCE = 60 };

FILE *results;
struct world world;

static int is_confined(void)
{
    char line[256];
    int filter = 0, privileges = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status)) {
        filter |= strcmp(line, "Seccomp:\t2\n") == 0;
        privileges |= strcmp(line, "NoNewPrivs:\t1\n") == 0;
    }
    if (status) {
        fclose(status);
    }
    return filter && privileges;
}

static void named(char **words)
{
    world.file = words[0];
    world.folder = words[1];
    world.socket = words[2];
    world.terminal = words[3];
    world.process = atoi(words[4]);
    world.segment = atoi(words[5]);
    world.queue = atoi(words[6]);
    world.semaphore = atoi(words[7]);
    world.posix_queue = words[8];
    try_named();
    fprintf(results, "end 0 0\n");
    fclose(results);
    rename("results.part", "results");
    for (int i = 0; i < PATIENCE * 100 && access("go", F_OK) != 0; i++) {
        poll(NULL, 0, 10);
    }
}

/* ---- every call ---- */

/* How often a call ended with which error; the last two: without one, and without an end. */
static uint32_t (*seen)[KINDS];
/* Whether the last one was made. */
static volatile bool *tried;

static uint64_t state;

static uint64_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static int is_signal(long number)
{
    static const long SIGNALS[] = {
        SYS_kill, SYS_tkill, SYS_tgkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, 424};
    for (size_t i = 0; i < sizeof SIGNALS / sizeof *SIGNALS; i++) {
        if (SIGNALS[i] == number) {
            return 1;
        }
    }
    return 0;
}

static void try_call(long number)
{
    static char zeros[8192], path[] = "swept";
    const long pool[] = {0,
                         1,
                         2,
                         8,
                         4096,
                         -1,
                         AT_FDCWD,
                         getpid(),
                         getppid(),
                         world.process,
                         open(world.file, O_RDONLY),
                         open(world.folder, O_RDONLY),
                         (long)world.file,
                         (long)world.folder,
                         (long)path,
                         (long)zeros,
                         (long)(zeros + 4096),
                         O_RDWR | O_CREAT,
                         S_IFCHR | 0600,
                         (long)(next() & 0xffff)};
    long arguments[6];
    for (int i = 0; i < 6; i++) {
        arguments[i] = pool[next() % (sizeof pool / sizeof *pool)];
    }
    if (is_signal(number)) {
        arguments[0] = world.process;
        arguments[1] = number == SYS_tgkill || number == SYS_rt_tgsigqueueinfo ? world.process : 9;
    }
    pid_t self = getpid();
    struct itimerval soon = {.it_value = {.tv_usec = 10000}};
    setitimer(ITIMER_REAL, &soon, NULL); /* for calls that block */
    errno = 0;
    *tried = true;
    long result = syscall(number, arguments[0], arguments[1], arguments[2], arguments[3],
                          arguments[4], arguments[5]);
    if (getpid() == self) {
        int error = result == -1 ? errno : MOST_ERRNO;
        __atomic_fetch_add(&seen[number][error < MOST_ERRNO ? error : MOST_ERRNO], 1,
                           __ATOMIC_RELAXED);
    }
    _exit(0);
}

static void sweep(uint64_t seed, int count, char **words)
{
    world.file = words[0];
    world.folder = words[1];
    world.process = atoi(words[4]);
    seen = mmap(NULL, sizeof *seen * CALLS + sizeof *tried, PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    tried = (volatile bool *)(seen + CALLS);
    for (long number = 0; number < CALLS; number++) {
        for (int i = 0; i < count; i++) {
            state = (seed + 1) * 0x9e3779b97f4a7c15U ^ (uint64_t)(number * 1000 + i + 1);
            next();
            int status = 0;
            *tried = false;
            for (int n = 0; n < PATIENCE && !*tried; n++) { /* its time may be over before it */
                pid_t child = fork();
                if (child == 0) {
                    try_call(number);
                }
                while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
                }
            }
            if (status != 0) {
                seen[number][MOST_ERRNO + 1]++;
            }
        }
    }
    for (int number = 0; number < CALLS; number++) {
        for (int error = 0; error < KINDS; error++) {
            if (seen[number][error] > 0) {
                fprintf(results, "%d %u %d\n", number, seen[number][error], error);
            }
        }
    }
    fprintf(results, "end 0 0\n");
    fclose(results);
    rename("results.part", "results");
}

int main(int count, char **words)
{
    if (!is_confined()) {
        return 3;
    }
    results = fopen("results.part", "w");
    if (!results) {
        return 2;
    }
    if (count == 11 && strcmp(words[1], "named") == 0) {
        named(words + 2);
    } else if (count == 13 && strcmp(words[1], "sweep") == 0) {
        sweep(strtoull(words[2], NULL, 10), atoi(words[3]), words + 4);
    } else {
        return 2;
    }
    return 0;
}
