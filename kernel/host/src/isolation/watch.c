/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Watches that a run makes progress: that kernel operations happen or virtual time passes. A thread
 * that has stood still for the time of `--timeout` waits for something outside the kernel. It gets
 * a signal that makes it a fault; a process that does not react even to that is killed. Time is
 * counted in ticks of the watcher, so that a run that was suspended as a whole has not stood still.
 */
#include "isolation/faults.h"
#include "isolation/memory.h"
#include "record/output.h"
#include "isolation/processes.h"
#include "state.h"

#include <sys/prctl.h>
#include <unistd.h>

enum { PATIENCE = 1000 / WATCH_TICK }; /* ticks between the signal and the end */

static struct {
    uint64_t entries, now;
    unsigned ticks;   /* since these were seen */
    unsigned asked;   /* ticks since the signal, 0: none was sent */
    unsigned damaged; /* ticks since the kernel's memory was found overwritten */
} seen;

/* Whether nothing has happened for so long that it has to be ended; an interruption is urgent. */
bool watch_stands_still(void)
{
    if (seen.entries != kernel->entries || seen.now != kernel->now) {
        seen.entries = kernel->entries;
        seen.now = kernel->now;
        seen.ticks = seen.asked = 0;
        return false;
    }
    seen.ticks++;
    uint64_t limit = kernel->options.timeout;
    return kernel->stop || (limit > 0 && (uint64_t)seen.ticks * WATCH_TICK >= limit);
}

/* In the runner, every tick. */
void watch_look(void)
{
    if (!integrity_of_block()) {
        if (++seen.damaged > PATIENCE) {
            damage_end(); /* the process that did it has not noticed */
        }
        return;
    }
    stream_write();
    uint32_t owner = kernel->owner;
    if (!watch_stands_still()) {
        return;
    }
    if (owner == HANDOVER_RUNNER || owner > kernel->space_count) {
        if (seen.ticks > PATIENCE) {
            damage_end(); /* control is nowhere */
        }
        return;
    }
    struct space *space = &kernel->spaces[owner - 1];
    if (seen.asked == 0) {
        kill(space->pid, SIGCONT);
        kill(space->pid, SIGNAL_BLOCKED);
    }
    if (!kernel->booted || seen.asked == PATIENCE) {
        space->blocked = true;
        kill(space->pid, SIGKILL);
    }
    seen.asked++;
}

/* This process ends with its parent, also if that has ended already. */
void watch_parent(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        process_exit(3);
    }
}
