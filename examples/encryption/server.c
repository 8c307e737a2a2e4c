/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Encrypts the blocks of all clients in one chain (CBC): its state is the last ciphertext. One of
 * two buffers always has the last consistent state; a request works in the other one.
 */
#include "shared.h"

#include <camkes.h>
#include <camkes/realtime.h>
#include <string.h>

static uint8_t last[2][AES_BLOCK];
static unsigned consistent; /* index of the buffer */
static struct aes_key key;

void e__init(void)
{
    set_key(&key);
}

/* Nothing of the request has got into the consistent state. */
void e__rollback(void)
{
    memset(last[1 - consistent], 0, AES_BLOCK);
}

void e_encrypt(uint64_t high, uint64_t low, uint64_t *first, uint64_t *second)
{
    const uint64_t plain[2] = {high, low};
    uint8_t *const block = last[1 - consistent];
    for (unsigned i = 0; i < AES_BLOCK; i++) {
        block[i] = last[consistent][i] ^ ((const uint8_t *)plain)[i];
    }
    aes_round(&key, 0, block);
    for (unsigned round = 1; round <= AES_ROUNDS; round++) {
        aes_round(&key, round, block);
        camkes_work(CAMKES_US(20));
    }
    memcpy(first, block, sizeof *first);
    memcpy(second, block + sizeof *first, sizeof *second);
    consistent = 1 - consistent;
}
