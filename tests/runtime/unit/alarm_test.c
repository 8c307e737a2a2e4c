/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: RT-28 */
/* The thread of a timer tells its manager each time that it fires. */
#include "../../../runtime/src/core/managers.h"
#include "log.h"

#include <camkes/condition.h>
#include <setjmp.h>

enum { FIRED = 3, MANAGER };

static jmp_buf over;
static unsigned waits;

void camkes_ask_manager(seL4_CPtr manager, seL4_Word label, const char *name)
{
    note("%s: %lu to %lu\n", name, (unsigned long)label, (unsigned long)manager);
}

#if CAMKES_MCS
seL4_MessageInfo_t seL4_Wait(seL4_CPtr notification, seL4_Word *badge)
#else
void seL4_Wait(seL4_CPtr notification, seL4_Word *badge)
#endif
{
    need(badge == NULL, "a badge");
    if (waits++ == 2) {
        longjmp(over, 1);
    }
    note("wait %lu\n", (unsigned long)notification);
#if CAMKES_MCS
    return seL4_MessageInfo_new(0, 0, 0, 0);
#endif
}

int main(void)
{
    static struct camkes_alarm alarm = {.fired = FIRED, .manager = MANAGER};
    static struct camkes_thread self = {.name = "alarm", .interface = &alarm};
    if (setjmp(over) == 0) {
        camkes_await_timer(&self);
    }
    need_done("wait 3\nalarm: 0 to 4\nwait 3\nalarm: 0 to 4\n");
    printf("good\n");
    return 0;
}
