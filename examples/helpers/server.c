/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>

int run(void)
{
    for (unsigned next = 0;; next++) {
        int client;
        while ((client = queue->client[next % QUEUE_SIZE]) == 0) {
            request_wait();
        }
        queue->client[next % QUEUE_SIZE] = 0;
        camkes_work(CAMKES_US(4500));
        if (client == 1) {
            reply1_emit();
        } else {
            reply2_emit();
        }
    }
}
