/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Moves the thread-local storage of a component by PAGES pages. Where two threads have it at the
 * same address, the kernel does not load its base again when it switches between them; components
 * that request each other have it elsewhere, so that no figure depends on the sizes of images. The
 * threads of a component have 4 pages each.
 */
#include <camkes.h>

static char apart[PAGES * 4096] = {1}; /* in .data, which comes before it */

void pre_init(void)
{
    __asm__ volatile("" : : "r"(apart)); /* the linker keeps it */
}
