/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <camkes/allocator.h>
#include <camkes/dma.h>
#include <camkes/msgqueue.h>
#include <stdio.h>
#include <string.h>
#include "sums.h"

SERVES(signal)
SERVES(port)
SERVES(portsignal)
SERVES(memory)
SERVES(nothreads)
SERVES(portnothreads)

int run(void)
{
    int good = camkes_alloc(seL4_EndpointObject, 0, 0) != seL4_CapNull;
    good += camkes_alloc(seL4_UntypedObject, 4096, 0) != seL4_CapNull;
    char *own = camkes_dma_alloc(64, 64, false);
    good += own != NULL && camkes_dma_get_paddr(own) != 0;
    seL4_Word badge = 0;
    seL4_Wait(asynch_notification(), &badge);
    good += badge != 0;
    seL4_Wait(bound_notification(), NULL);
    native_wait();
    const char *shared = dma_unwrap_ptr((dataport_ptr_t *)caps);
    good += shared != NULL && strcmp(shared, "shared") == 0;
    camkes_msgqueue_receiver_t receiver = {0};
    message_t message = {0};
    good += camkes_msgqueue_receiver_init(1, &receiver) == 0;
    good += camkes_msgqueue_get(&receiver, &message, sizeof message) == 0 && message.number == 7;
    printf("connectors: server %d of 7 good\n", good);
    return 0;
}
