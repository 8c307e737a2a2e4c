/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <camkes/msgqueue.h>
#include <camkes/virtqueue.h>
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

    strcpy(caps, "shared");
    camkes_msgqueue_sender_t sender = {0};
    message_t message = {.number = 7};
    good += camkes_msgqueue_sender_init(1, &sender) == 0 &&
            camkes_msgqueue_send(&sender, &message, sizeof message) == 0;
    virtqueue_driver_t queue = {0};
    void *buffer = NULL;
    good += camkes_virtqueue_driver_init(&queue, 0) == 0 &&
            camkes_virtqueue_buffer_alloc(&queue, &buffer, 16) == 0 && buffer != NULL;
    if (buffer != NULL) {
        strcpy(buffer, "queued");
        good += camkes_virtqueue_driver_send_buffer(&queue, buffer, 16) == 0;
    }
    asynch_emit();
    awaken_emit();
    printf("software: client %d of 11 good\n", good);
    return 0;
}
