/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <camkes/dma.h>
#include <camkes/msgqueue.h>
#include <stdio.h>
#include <string.h>
#include "sums.h"

int run(void)
{
    int good = 0;
    CALLS(signal);
    CALLS(port);
    CALLS(portsignal);
    CALLS(memory);

    char *pooled = camkes_dma_alloc(64, 64, true);
    good += pooled != NULL && camkes_dma_get_paddr(pooled) != 0 &&
            dma_wrap_ptr((dataport_ptr_t *)caps, pooled) == 0;
    strcpy(pooled, "shared");
    printf("connectors: pool %d\n", good);
    camkes_msgqueue_sender_t sender = {0};
    message_t message = {.number = 7};
    good += camkes_msgqueue_sender_init(1, &sender) == 0 &&
            camkes_msgqueue_send(&sender, &message, sizeof message) == 0;
    printf("connectors: message %d\n", good);
    asynch_emit();
    bound_emit();
    awaken_emit();
    native_emit();
    printf("connectors: %d of 10 good\n", good);
    return 0;
}
