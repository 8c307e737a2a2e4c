/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The criticality of the system, as components read and change it. */
#include "../core/managers.h"

#include <camkes/criticality.h>
#include <camkes/instance.h>
#include <camkes/realtime.h>

#if defined(CONFIG_KERNEL_MCS)
/* The memory of all address spaces of a system with criticalities; 0 in others. */
struct camkes_level _camkes_level __attribute__((aligned(4096), used));
#endif

unsigned camkes_criticality(void)
{
    return camkes_level();
}

void camkes_set_criticality(unsigned level)
{
    const seL4_CPtr manager = camkes_self()->instance->criticality;
    if (manager != 0) {
        camkes_must_grant(camkes_call_manager(manager, level, 0), "the time");
    }
}
