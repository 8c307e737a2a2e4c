/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * One process an address space. Exactly one process has control; the others sleep until it is
 * handed to them. The runner sleeps too; it writes what they put out, watches whether they make
 * progress, and takes control from a process that dies with it.
 */
#include "isolation/faults.h"
#include "isolation/memory.h"
#include "record/output.h"
#include "isolation/processes.h"
#include "state.h"

#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

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
    if (space->dead && atomic_compare_exchange_strong(&kernel->owner, &target, control_myself())) {
        kernel->inside = true;
        bury(space);
        return false;
    }
    control_wake(&space->baton, CONTROL);
    return true;
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
    const unsigned number = children_bury(pid);
    if (number == NONE) {
        return false;
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == STATUS_MISLED && !integrity_of_block()) {
        return false; /* the one that has control reports it, or the watch does */
    }
    if ((WIFEXITED(status) && WEXITSTATUS(status) == STATUS_DAMAGED) || !integrity_of_block()) {
        damaged(children_name(number));
    }
    struct space *space = &kernel->spaces[number];
    uint32_t owner = number + 1;
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
        control_wait();
        return;
    }
    for (;;) {
        uint32_t bits = control_sleep(&kernel->runner_baton, WATCH_TICK);
        if (reap()) {
            break;
        }
        if (bits & CONTROL) {
            damage_check();
            if (!integrity_of_state()) {
                damage_end();
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

static void on_child(int number)
{
    (void)number;
    int saved_errno = errno;
    access_in_handler();
    control_wake(&kernel->runner_baton, LOOK);
    errno = saved_errno;
}

void handover_initialise(void)
{
    children_initialise();
    struct sigaction action = {.sa_handler = on_child, .sa_flags = SA_RESTART | SA_NOCLDSTOP};
    sigemptyset(&action.sa_mask);
    sigaction(SIGCHLD, &action, NULL);
}

/* At the end: no process of ours is left. */
void handover_reap(void)
{
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigaction(SIGCHLD, &action, NULL);
    children_kill();
}
