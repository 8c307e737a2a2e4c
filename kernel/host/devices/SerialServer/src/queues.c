/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Reading and writing by queues in shared memory, which a workspace has. */
#include "lines.h"

#if __has_include(<camkes/virtqueue.h>) && __has_include(<virtqueue.h>)
#include "../../must.h"

#include <camkes.h>
#include <camkes/virtqueue.h>

void serial_read_wait_callback(void);
void serial_write_wait_callback(void);

static virtqueue_device_t readers, writers;
static int connected;

void queues_initialise(void)
{
    if (camkes_virtqueue_channel_num() != 2) {
        return;
    }
    const int reading = camkes_virtqueue_get_id_from_name("read");
    const int writing = camkes_virtqueue_get_id_from_name("write");
    connected = reading >= 0 && writing >= 0 &&
                camkes_virtqueue_device_init(&readers, (unsigned)reading) == 0 &&
                camkes_virtqueue_device_init(&writers, (unsigned)writing) == 0;
}

int queues_give(char character)
{
    virtqueue_ring_object_t request;
    if (!connected || !virtqueue_get_available_buf(&readers, &request)) {
        return 0;
    }
    camkes_virtqueue_device_scatter_copy_buffer(&readers, &request, &character, 1);
    readers.notify();
    return 1;
}

/* A request to read waits until something comes. */
void serial_read_wait_callback(void)
{
}

void serial_write_wait_callback(void)
{
    virtqueue_ring_object_t request;
    console_begin();
    while (connected && virtqueue_get_available_buf(&writers, &request)) {
        const size_t size = virtqueue_scattered_available_size(&writers, &request);
        char *text = malloc(size);
        must(text != NULL);
        camkes_virtqueue_device_gather_copy_buffer(&writers, &request, text, size);
        writers.notify();
        for (size_t i = 0; i < size; i++) {
            console_print(STREAM_QUEUE, 0, text[i]);
        }
        free(text);
    }
    console_end();
}
#else
void queues_initialise(void)
{
}

int queues_give(char character)
{
    (void)character;
    return 0;
}
#endif
