/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * AES-256 (FIPS 197), one round at a time and without tables. Made to be short, not to be fast or
 * to resist measurements of its power.
 */
#pragma once

#include <stdint.h>

#define AES_BLOCK 16
#define AES_KEY 32
#define AES_ROUNDS 14

struct aes_key {
    uint8_t round[AES_ROUNDS + 1][AES_BLOCK];
};

void aes_expand(struct aes_key *key, const uint8_t secret[AES_KEY]);
/* Round 0 adds the first round key only; those from 1 to AES_ROUNDS follow. */
void aes_round(const struct aes_key *key, unsigned round, uint8_t block[AES_BLOCK]);
/* All rounds. */
void aes_encrypt(const struct aes_key *key, uint8_t block[AES_BLOCK]);
