/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * A network that is files of frames. A frame in them is its time (8 bytes, nanoseconds), its length
 * (4 bytes) and its bytes, all with the lowest byte first; see capture.py. A frame that comes is
 * for the client with its address, or for all.
 */
#include "../../must.h"

#include <camkes.h>
#include <camkes/host.h>

#include <stdint.h>
#include <string.h>

/* The template of its connector defines these, if it has clients. */
seL4_Word client_get_sender_id(void) __attribute__((weak));
void client_emit(unsigned int badge) __attribute__((weak));
unsigned int client_num_badges(void) __attribute__((weak));
seL4_Word client_enumerate_badge(unsigned int number) __attribute__((weak));
void *client_buf(seL4_Word badge) __attribute__((weak));
bool client_has_mac(unsigned int badge) __attribute__((weak));
void client_get_mac(unsigned int badge, uint8_t *mac) __attribute__((weak));

int client_tx(int length);
int client_rx(int *length);
void client_mac(uint8_t *b1, uint8_t *b2, uint8_t *b3, uint8_t *b4, uint8_t *b5, uint8_t *b6);

enum { ADDRESS = 6, HEADER = 12, LONGEST = 1536, MOST_CLIENTS = 16, KEPT = 32 };

struct frame {
    uint32_t length;
    uint8_t bytes[LONGEST];
};

/* What has come for a client, and was not taken yet. */
static struct waiting {
    unsigned first, count;
    struct frame frames[KEPT];
} waiting[MOST_CLIENTS];

static unsigned clients;
static size_t place; /* in what comes */

static void address_of(unsigned number, uint8_t mac[static ADDRESS])
{
    const seL4_Word badge = client_enumerate_badge(number);
    const uint8_t local[ADDRESS] = {2, 0, 0, 0, 0, (uint8_t)(number + 1)};
    memcpy(mac, local, ADDRESS);
    if (client_has_mac((unsigned int)badge)) {
        client_get_mac((unsigned int)badge, mac);
    }
}

/* The client that calls. */
static unsigned caller(void)
{
    const seL4_Word badge = client_get_sender_id();
    unsigned number = 0;
    while (number + 1 < clients && client_enumerate_badge(number) != badge) {
        number++;
    }
    return number;
}

/* ---- what comes ---- */

/* A number of so many bytes; false at the end. */
static bool read_number(unsigned bytes, uint64_t *number)
{
    *number = 0;
    for (unsigned i = 0; i < bytes; i++) {
        const int byte = camkes_host_input(CAMKES_INPUT_NETWORK, place++);
        if (byte < 0) {
            return false;
        }
        *number |= (uint64_t)byte << 8 * i;
    }
    return true;
}

static bool read_frame(struct frame *frame)
{
    uint64_t length;
    if (!read_number(sizeof(uint32_t), &length)) {
        return false;
    }
    frame->length = (uint32_t)(length < LONGEST ? length : LONGEST);
    for (uint32_t i = 0; i < frame->length; i++) {
        frame->bytes[i] = (uint8_t)camkes_host_input(CAMKES_INPUT_NETWORK, place + i);
    }
    place += length;
    return true;
}

static void give(const struct frame *frame)
{
    const bool for_all = frame->bytes[0] & 1; /* broadcast, multicast */
    for (unsigned i = 0; i < clients; i++) {
        uint8_t mac[ADDRESS];
        address_of(i, mac);
        struct waiting *own = &waiting[i];
        if ((for_all || memcmp(mac, frame->bytes, ADDRESS) == 0) && own->count < KEPT) {
            own->frames[(own->first + own->count++) % KEPT] = *frame;
            client_emit((unsigned int)client_enumerate_badge(i));
        }
    }
}

void pre_init(void)
{
    clients = client_num_badges ? client_num_badges() : 0;
    clients = clients < MOST_CLIENTS ? clients : MOST_CLIENTS;
}

int run(void)
{
    static struct frame frame;
    uint64_t due;
    while (read_number(sizeof due, &due)) {
        if (due > device_time()) {
            device_oneshot_absolute(0, due);
            device_wait();
        }
        if (read_frame(&frame) && frame.length >= HEADER) {
            must(frames_lock() == 0);
            give(&frame);
            must(frames_unlock() == 0);
        }
    }
    return 0;
}

/* ---- clients ---- */

/* 0: the last that was there; 1: there are more; -1: there was none. */
int client_rx(int *length)
{
    *length = 0;
    must(frames_lock() == 0);
    const unsigned number = caller();
    struct waiting *own = &waiting[number];
    int result = -1;
    if (own->count > 0) {
        const struct frame *frame = &own->frames[own->first];
        memcpy(client_buf(client_enumerate_badge(number)), frame->bytes, frame->length);
        *length = (int)frame->length;
        own->first = (own->first + 1) % KEPT;
        result = --own->count > 0;
    }
    must(frames_unlock() == 0);
    return result;
}

static size_t put_number(uint8_t *place_of_it, unsigned bytes, uint64_t number)
{
    for (unsigned i = 0; i < bytes; i++) {
        place_of_it[i] = (uint8_t)(number >> 8 * i);
    }
    return bytes;
}

/* A frame is sent with the address of its client. */
int client_tx(int length)
{
    uint8_t text[sizeof(uint64_t) + sizeof(uint32_t) + LONGEST];
    if (length < HEADER) {
        return -1;
    }
    length = length < LONGEST ? length : LONGEST;
    const unsigned number = caller();
    size_t used = put_number(text, sizeof(uint64_t), device_time());
    used += put_number(text + used, sizeof(uint32_t), (uint64_t)length);
    memcpy(text + used, client_buf(client_enumerate_badge(number)), (size_t)length);
    address_of(number, text + used + ADDRESS);
    camkes_host_send(text, used + (size_t)length);
    return 0;
}

void client_mac(uint8_t *b1, uint8_t *b2, uint8_t *b3, uint8_t *b4, uint8_t *b5, uint8_t *b6)
{
    uint8_t mac[ADDRESS];
    address_of(caller(), mac);
    *b1 = mac[0];
    *b2 = mac[1];
    *b3 = mac[2];
    *b4 = mac[3];
    *b5 = mac[4];
    *b6 = mac[5];
}
