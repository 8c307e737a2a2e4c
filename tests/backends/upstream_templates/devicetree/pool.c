/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <camkes/dma.h>
#include <stdio.h>

int run(void)
{
    char *memory = camkes_dma_alloc(4096, 4096, false);
    printf("devicetree: pool %d\n", memory != NULL && camkes_dma_get_paddr(memory) != 0);
    return 0;
}
