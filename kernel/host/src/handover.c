/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Walls: one process an address space. Exactly one process has control; the others sleep until it
 * is handed to them. The runner sleeps too, and takes control from a process that dies with it.
 */
#include "kernel.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CONTROL = 1, LOOK = 2 }; /* bits of a baton */

static uint32_t myself(void)
{
    return process.space ? process.space->number + 1 : HANDOVER_RUNNER;
}

static void wake(_Atomic uint32_t *baton, uint32_t bits)
{
    atomic_fetch_or(baton, bits);
    syscall(SYS_futex, baton, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static uint32_t sleep_on(_Atomic uint32_t *baton)
{
    uint32_t bits;
    while (!(bits = atomic_exchange(baton, 0))) {
        syscall(SYS_futex, baton, FUTEX_WAIT, 0, NULL, NULL, 0);
    }
    return bits;
}

static void bury(struct space *space)
{
    if (WIFSIGNALED(space->death)) {
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
        pause();
    }
}

/* Called in the runner. True: the process had control, now the runner has it. */
static bool died(pid_t pid, int status)
{
    for (unsigned i = 0; i < kernel->space_count; i++) {
        struct space *space = &kernel->spaces[i];
        if (space->pid != pid) {
            continue;
        }
        uint32_t owner = i + 1;
        space->death = status;
        space->dead = true;
        if (!atomic_compare_exchange_strong(&kernel->owner, &owner, HANDOVER_RUNNER)) {
            return false;
        }
        if (kernel->status) {
            process_exit(kernel->status);
        }
        if (!kernel->booted) {
            process_exit(WIFEXITED(status) && WEXITSTATUS(status) ? WEXITSTATUS(status) : 2);
        }
        if (kernel->inside) {
            give_up(3, "the process of %s ended within the kernel", space->name);
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

/* Sleeps until this process has control. */
void handover_wait(void)
{
    if (process.space) {
        sleep_on(&process.space->baton);
    } else {
        while (!(sleep_on(&kernel->runner_baton) & CONTROL)) {
            if (reap()) {
                break;
            }
        }
    }
    kernel->inside = true;
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
    struct sigaction action = {.sa_handler = on_child, .sa_flags = SA_RESTART | SA_NOCLDSTOP};
    sigemptyset(&action.sa_mask);
    sigaction(SIGCHLD, &action, NULL);
}

/* At the end: no process of ours is left. */
void handover_reap(void)
{
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigaction(SIGCHLD, &action, NULL);
    for (unsigned i = 0; i < kernel->space_count; i++) {
        struct space *space = &kernel->spaces[i];
        if (space->pid > 0 && !space->dead) {
            kill(space->pid, SIGKILL);
        }
    }
    while (waitpid(-1, NULL, 0) > 0 || errno == EINTR) {
        continue;
    }
}
