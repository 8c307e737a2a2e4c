/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <camkes/io.h>
#include <libfdt.h>
#include <stdio.h>

/* In the last words of its registers, a PrimeCell says what it is. */
#define PERIPHERAL_ID 0xfe0

int run(void)
{
    const volatile uint32_t *registers =
        (const volatile uint32_t *)((char *)clock_0 + PERIPHERAL_ID);
    ps_io_fdt_t tree;
    const int found = camkes_io_fdt(&tree) == 0 && fdt_check_header(ps_io_fdt_get(&tree)) == 0;
    printf("devicetree: PL0%x, tree %d\n", (unsigned)(registers[0] & 0xff), found);
    return 0;
}
