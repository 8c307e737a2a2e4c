/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Control over the system: exactly one process has it, the others sleep on their batons until it is
 * handed to them. Here is what a process of a component needs of that, and the parts of handover.c.
 */
#include "isolation/memory.h"
#include "isolation/processes.h"
#include "state.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Ends this process, whoever calls it; `_exit` is the components' (ending.c). */
_Noreturn void control_exit(int status)
{
    for (;;) {
        access_end(status);
    }
}

uint32_t control_myself(void)
{
    return process.space ? process.space->number + 1 : HANDOVER_RUNNER;
}

void control_wake(_Atomic uint32_t *baton, uint32_t bits)
{
    atomic_fetch_or(baton, bits);
    syscall(SYS_futex, baton, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Until the baton is there, or a number of milliseconds has passed (0: no matter how many). */
uint32_t control_sleep(_Atomic uint32_t *baton, long limit)
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

/* In the process of a component: sleeps until it has control. */
void control_wait(void)
{
    control_sleep(&process.space->baton, 0);
    if (!integrity_of_block()) {
        control_exit(STATUS_MISLED);
    }
    kernel->inside = true;
}

static void to_runner(void)
{
    kernel->inside = false;
    kernel->owner = HANDOVER_RUNNER;
    control_wake(&kernel->runner_baton, CONTROL);
}

/* A process is ready: the runner may go on, until it is this one's turn. */
void control_back(void)
{
    to_runner();
    control_wait();
}

/* Control goes back to the runner, for ever. */
_Noreturn void control_finish(void)
{
    to_runner();
    for (;;) {
        control_sleep(&process.space->baton, 0);
    }
}

/* Has the runner write what is in the buffers; the caller has control before and after. */
void control_write(void)
{
    kernel->asker = process.space;
    to_runner();
    control_wait();
}
