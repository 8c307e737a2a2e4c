/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: RT-7 */
/* The release of a lock that others wait for, and how a worker comes to its manager. */
#include "../../../runtime/src/core/nested.h"
#include "log.h"

#include <stdlib.h>

enum { HELD = 3, WAKE = 8, MANAGER = 20 };

static struct camkes_context context = {.held = HELD, .manager_as_worker = MANAGER};
static struct camkes_cpi cpi = {.name = "cpi", .wake = WAKE};
static struct camkes_thread self = {.name = "worker", .cpi = &cpi, .context = &context};
static seL4_IPCBuffer buffer;
static unsigned points;  /* until the lock word changes */
static uintptr_t change; /* to this, 0: it does not */

seL4_IPCBuffer *seL4_GetIPCBuffer(void)
{
    return &buffer;
}

void camkes_host_point(void)
{
    if (change != 0 && points-- == 0) {
        atomic_store(&cpi.lock, change);
        change = 0;
    }
}

void camkes_manager_failed(const char *name)
{
    need(false, name);
    abort();
}

seL4_MessageInfo_t seL4_Call(seL4_CPtr manager, seL4_MessageInfo_t info)
{
    need(manager == MANAGER && seL4_MessageInfo_get_length(info) == 0, "another manager");
    note("ask %u\n", (unsigned)seL4_MessageInfo_get_label(info));
    return seL4_MessageInfo_new(CAMKES_MESSAGE_GOOD, 0, 0, 0);
}

void seL4_Signal(seL4_CPtr notification)
{
    need(notification == WAKE, "another notification");
    note("signal%s\n", (atomic_load(&cpi.lock) & CAMKES_RELEASED) != 0 ? " after the release" : "");
}

void seL4_Yield(void)
{
    note("yield\n");
}

#if CAMKES_MCS
void camkes_return_time(const struct camkes_thread *of, enum camkes_return when)
{
    need(of == &self && when == CAMKES_RETURN_RELEASE, "what goes back");
    note("return time\n");
}
#endif

static void begin(uintptr_t word, uintptr_t to, unsigned after)
{
    seL4_SetUserData((seL4_Word)&self);
    atomic_store(&cpi.lock, word);
    change = to;
    points = after;
}

static void asks(void)
{
    begin(HELD | CAMKES_WAITERS, 0, 0);
    camkes_ask_own_manager(&cpi, &context, CAMKES_SETTLE);
    need_done("ask 5\n");
    begin(HELD | CAMKES_WAITERS | CAMKES_MANAGER_WAITS, 0, 0);
    camkes_ask_own_manager(&cpi, &context, CAMKES_SETTLE);
    need_done("signal\nask 5\n");
    begin(HELD, 0, 0);
    camkes_lock_wait(&cpi, &context);
    need_done("ask 1\n");
}

static void releases(void)
{
    begin(HELD | CAMKES_WAITERS, 0, 0);
    camkes_lock_hand_over(&cpi, &context);
    need_done("ask 2\n");
    /* the manager waits for that, and executes when this thread lets it */
    begin(HELD | CAMKES_WAITERS | CAMKES_MANAGER_WAITS, 0, 0);
    camkes_lock_hand_over(&cpi, &context);
    need_done("signal after the release\nyield\n");
    /* or before */
    begin(HELD | CAMKES_WAITERS | CAMKES_MANAGER_WAITS, HELD + 1, 1);
    camkes_lock_hand_over(&cpi, &context);
    need_done("signal after the release\n");
    /* it gets a message meanwhile */
    begin(HELD | CAMKES_WAITERS | CAMKES_MANAGER_WAITS, HELD | CAMKES_WAITERS, 0);
    camkes_lock_hand_over(&cpi, &context);
    need_done("ask 2\n");
}

int main(void)
{
    asks();
    releases();
#if CAMKES_MCS
    /* in a group, the time of others goes back before */
    self.donated = 1;
    releases();
    cpi.grouped = true;
    begin(HELD | CAMKES_WAITERS, 0, 0);
    camkes_lock_hand_over(&cpi, &context);
    need_done("return time\nask 2\n");
    self.donated = 0;
    begin(HELD | CAMKES_WAITERS, 0, 0);
    camkes_lock_hand_over(&cpi, &context);
    need_done("ask 2\n");
#endif
    printf("good\n");
    return 0;
}
