/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <camkes/msgqueue.h>
#include <camkes/virtqueue.h>
#include <stdio.h>
#include <string.h>
#include "sums.h"

SERVES(signal)
SERVES(port)
SERVES(portsignal)
SERVES(memory)

int run(void)
{
    seL4_Word badge = 0;
    seL4_Wait(asynch_notification(), &badge);
    int good = badge != 0;
    good += strcmp(caps, "shared") == 0;
    camkes_msgqueue_receiver_t receiver = {0};
    message_t message = {0};
    good += camkes_msgqueue_receiver_init(1, &receiver) == 0;
    good += camkes_msgqueue_get(&receiver, &message, sizeof message) == 0 && message.number == 7;
    virtqueue_device_t queue = {0};
    virtqueue_ring_object_t handle;
    char text[16] = "";
    good += camkes_virtqueue_device_init(&queue, 0) == 0;
    if (virtqueue_get_available_buf(&queue, &handle)) {
        good +=
            camkes_virtqueue_device_gather_copy_buffer(&queue, &handle, text, sizeof text) == 0 &&
            strcmp(text, "queued") == 0;
    }
    printf("software: server %d of 6 good\n", good);
    return 0;
}
