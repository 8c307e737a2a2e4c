/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * The criticality of the system: a page that the time manager writes and all others read. It is 0
 * on a kernel that is not an MCS kernel.
 */
#pragma once

#include <sel4/sel4.h> /* says whether it is an MCS kernel */
#include <stdatomic.h>
#include <stdint.h>

/* criticalities are 0 to CAMKES_LEVELS - 1 */
#define CAMKES_LEVELS 4

#if defined(CONFIG_KERNEL_MCS)

struct camkes_level {
    _Atomic uint32_t level;
    uint32_t padding[1023];
};
extern struct camkes_level _camkes_level;

static inline unsigned camkes_level(void)
{
    return atomic_load(&_camkes_level.level);
}

#else
static inline unsigned camkes_level(void)
{
    return 0;
}
#endif
