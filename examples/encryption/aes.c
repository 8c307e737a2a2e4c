/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include "aes.h"

#include <string.h>

/* Product in GF(2^8) with the polynomial x^8 + x^4 + x^3 + x + 1. */
static uint8_t product(uint8_t x, uint8_t y)
{
    uint8_t sum = 0;
    for (; y != 0; y >>= 1) {
        sum ^= (uint8_t)((y & 1) * x);
        x = (uint8_t)(x << 1 ^ (x >> 7) * 0x1b);
    }
    return sum;
}

/* The inverse (x^254; 0 for 0), then the affine transformation. */
static uint8_t substitute(uint8_t x)
{
    uint8_t inverse = 1;
    for (unsigned bit = 128; bit > 0; bit >>= 1) {
        inverse = product(inverse, inverse);
        if ((254 & bit) != 0) {
            inverse = product(inverse, x);
        }
    }
    uint8_t result = 0x63;
    for (unsigned turn = 0; turn < 5; turn++) {
        result ^= (uint8_t)(inverse << turn | inverse >> (8 - turn));
    }
    return result;
}

void aes_expand(struct aes_key *key, const uint8_t secret[AES_KEY])
{
    uint8_t *const words = key->round[0];
    uint8_t constant = 1;
    memcpy(words, secret, AES_KEY);
    for (unsigned i = AES_KEY; i < sizeof key->round; i += 4) {
        uint8_t word[4];
        memcpy(word, words + i - 4, 4);
        if (i % AES_KEY == 0) {
            const uint8_t first = word[0];
            word[0] = (uint8_t)(substitute(word[1]) ^ constant);
            word[1] = substitute(word[2]);
            word[2] = substitute(word[3]);
            word[3] = substitute(first);
            constant = product(constant, 2);
        } else if (i % AES_KEY == AES_KEY / 2) {
            for (unsigned k = 0; k < 4; k++) {
                word[k] = substitute(word[k]);
            }
        }
        for (unsigned k = 0; k < 4; k++) {
            words[i + k] = words[i + k - AES_KEY] ^ word[k];
        }
    }
}

static void mix_column(uint8_t column[4])
{
    const uint8_t all = column[0] ^ column[1] ^ column[2] ^ column[3], first = column[0];
    for (unsigned k = 0; k < 4; k++) {
        const uint8_t next = k < 3 ? column[k + 1] : first;
        column[k] ^= all ^ product(column[k] ^ next, 2);
    }
}

void aes_round(const struct aes_key *key, unsigned round, uint8_t block[AES_BLOCK])
{
    uint8_t shifted[AES_BLOCK];
    for (unsigned i = 0; i < AES_BLOCK && round > 0; i++) { /* row i % 4 moves by as many columns */
        shifted[i] = substitute(block[(i + 4 * (i % 4)) % AES_BLOCK]);
    }
    if (round > 0) {
        memcpy(block, shifted, AES_BLOCK);
    }
    for (unsigned column = 0; column < 4 && round > 0 && round < AES_ROUNDS; column++) {
        mix_column(block + 4 * column);
    }
    for (unsigned i = 0; i < AES_BLOCK; i++) {
        block[i] ^= key->round[round][i];
    }
}

void aes_encrypt(const struct aes_key *key, uint8_t block[AES_BLOCK])
{
    for (unsigned round = 0; round <= AES_ROUNDS; round++) {
        aes_round(key, round, block);
    }
}
