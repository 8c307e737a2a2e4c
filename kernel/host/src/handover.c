/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * One process an address space. Exactly one process has control; the others sleep until it is
 * handed to them. The runner sleeps too; it writes what they put out, watches whether they make
 * progress, and takes control from a process that dies with it.
 */
#include "kernel.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CONTROL = 1, LOOK = 2 }; /* bits of a baton */

struct child {
    pid_t pid; /* 0: it has ended */
    char *name;
};

static struct child *children; /* of the runner, in the order of the spaces */
static unsigned child_count;

static uint32_t myself(void)
{
    return process.space ? process.space->number + 1 : HANDOVER_RUNNER;
}

static void wake(_Atomic uint32_t *baton, uint32_t bits)
{
    atomic_fetch_or(baton, bits);
    syscall(SYS_futex, baton, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Until the baton is there, or a number of milliseconds has passed (0: no matter how many). */
static uint32_t sleep_on(_Atomic uint32_t *baton, long limit)
{
    const struct timespec time = {.tv_nsec = limit * 1000000};
    uint32_t bits;
    while (!(bits = atomic_exchange(baton, 0))) {
        if (syscall(SYS_futex, baton, FUTEX_WAIT, 0, limit ? &time : NULL, NULL, 0) < 0 &&
            errno == ETIMEDOUT) {
            return LOOK;
        }
    }
    return bits;
}

static void bury(struct space *space)
{
    if (kernel->stop) {
        return; /* it was in the way of the end */
    }
    if (space->blocked) {
        fault_space(space, CAMKES_FAULT_BLOCKED, 0, NULL);
    } else if (WIFSIGNALED(space->death)) {
        fault_space(space, CAMKES_FAULT_KILLED, (uint64_t)WTERMSIG(space->death), NULL);
    } else {
        fault_space(space, CAMKES_FAULT_EXIT, (uint64_t)WEXITSTATUS(space->death), NULL);
    }
}

/* False: that process is dead, and whoever calls this still has control. */
bool handover_to(struct space *space)
{
    uint32_t target = space->number + 1;
    kernel->inside = false;
    kernel->owner = target;
    if (space->dead && atomic_compare_exchange_strong(&kernel->owner, &target, myself())) {
        kernel->inside = true;
        bury(space);
        return false;
    }
    wake(&space->baton, CONTROL);
    return true;
}

static void to_runner(void)
{
    kernel->inside = false;
    kernel->owner = HANDOVER_RUNNER;
    wake(&kernel->runner_baton, CONTROL);
}

/* A process is ready: the runner may go on, until it is this one's turn. */
void handover_back(void)
{
    to_runner();
    handover_wait();
}

/* Control goes back to the runner, for ever. */
_Noreturn void handover_finish(void)
{
    to_runner();
    for (;;) {
        sleep_on(&process.space->baton, 0);
    }
}

const char *handover_name(unsigned number)
{
    return number < child_count ? children[number].name : NULL;
}

/* A component wrote over the kernel's memory: nothing in it can be relied upon. */
static _Noreturn void damaged(const char *name)
{
    dprintf(STDERR_FILENO, "camkes-host: component %s wrote into the kernel's memory\n", name);
    process_exit(STATUS_DAMAGED);
}

/* The process that had control has ended, and the run with it. */
static _Noreturn void lost(const struct space *space, int status)
{
    if (kernel->status) {
        process_exit(kernel->status);
    }
    if (!kernel->booted && space->blocked) {
        give_up(2, "component %s: loading it does not end: a constructor loops or blocks",
                space->name);
    }
    if (!kernel->booted) {
        complain("component %s ended while it was loaded", space->name);
        process_exit(WIFEXITED(status) && WEXITSTATUS(status) ? WEXITSTATUS(status) : 2);
    }
    give_up(3, "the process of %s ended within the kernel", space->name);
}

/* Called in the runner. True: the process had control, now the runner has it. */
static bool died(pid_t pid, int status)
{
    for (unsigned i = 0; i < child_count; i++) {
        if (children[i].pid != pid) {
            continue;
        }
        children[i].pid = 0;
        if (WIFEXITED(status) && WEXITSTATUS(status) == STATUS_MISLED && !memory_good()) {
            return false; /* the one that has control says so, or the watch does */
        }
        if ((WIFEXITED(status) && WEXITSTATUS(status) == STATUS_DAMAGED) || !memory_good()) {
            damaged(children[i].name);
        }
        struct space *space = &kernel->spaces[i];
        uint32_t owner = i + 1;
        space->death = status;
        space->dead = true;
        if (!atomic_compare_exchange_strong(&kernel->owner, &owner, HANDOVER_RUNNER)) {
            return false;
        }
        if (kernel->status || !kernel->booted || kernel->inside) {
            lost(space, status);
        }
        kernel->inside = true;
        bury(space);
        return true;
    }
    return false;
}

static bool reap(void)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (died(pid, status)) {
            return true;
        }
    }
    return false;
}

/* The runner has control: only to write, then it gives it back and has it no longer. */
static bool serve(void)
{
    struct space *asker = kernel->asker;
    kernel->asker = NULL;
    if (!asker) {
        return false;
    }
    stream_write();
    if (kernel->trace_fd >= 0) {
        trace_flush();
    }
    return handover_to(asker);
}

/* Sleeps until this process has control. */
void handover_wait(void)
{
    if (process.space) {
        sleep_on(&process.space->baton, 0);
        if (!memory_good()) {
            process_exit(STATUS_MISLED);
        }
        kernel->inside = true;
        return;
    }
    for (;;) {
        uint32_t bits = sleep_on(&kernel->runner_baton, WATCH_TICK);
        if (reap()) {
            break;
        }
        if (bits & CONTROL) {
            memory_check();
            if (!integrity_of_state()) {
                memory_damaged();
            }
            if (!serve()) {
                break;
            }
        } else {
            watch_look();
        }
    }
    kernel->inside = true;
}

/* Has the runner write what is in the buffers; the caller has control before and after. */
void handover_write(void)
{
    kernel->asker = process.space;
    to_runner();
    handover_wait();
}

/* A child of the runner, as it is remembered where components cannot write. */
void handover_note(pid_t pid, const char *name)
{
    children[child_count++] = (struct child){.pid = pid, .name = strdup(name)};
}

static void on_child(int number)
{
    (void)number;
    int saved_errno = errno;
    wake(&kernel->runner_baton, LOOK);
    errno = saved_errno;
}

void handover_initialise(void)
{
    children = calloc(kernel->space_count, sizeof *children);
    if (!children && kernel->space_count > 0) {
        give_up(3, "no memory for the processes of components");
    }
    struct sigaction action = {.sa_handler = on_child, .sa_flags = SA_RESTART | SA_NOCLDSTOP};
    sigemptyset(&action.sa_mask);
    sigaction(SIGCHLD, &action, NULL);
}

/* At the end: no process of ours is left. */
void handover_reap(void)
{
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigaction(SIGCHLD, &action, NULL);
    for (unsigned i = 0; i < child_count; i++) {
        if (children[i].pid > 0) {
            kill(children[i].pid, SIGKILL);
        }
    }
    while (waitpid(-1, NULL, 0) > 0 || errno == EINTR) {
        continue;
    }
}
