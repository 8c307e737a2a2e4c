/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Compares each ciphertext that it gets with its own: no request of the other client counts, as
 * none of them ends. */
#include "shared.h"

#include <camkes.h>
#include <camkes/realtime.h>
#include <stdio.h>
#include <string.h>

static struct aes_key key;

/* FIPS 197, C.3. */
static bool vector(void)
{
    static const uint8_t expected[AES_BLOCK] = {0x8e, 0xa2, 0xb7, 0xca, 0x51, 0x67, 0x45, 0xbf,
                                                0xea, 0xfc, 0x49, 0x90, 0x4b, 0x49, 0x60, 0x89};
    uint8_t block[AES_BLOCK];
    for (unsigned i = 0; i < AES_BLOCK; i++) {
        block[i] = (uint8_t)(i * 0x11);
    }
    aes_encrypt(&key, block);
    return memcmp(block, expected, AES_BLOCK) == 0;
}

/* A number up to `most`: always the same sequence. */
static unsigned any(int most)
{
    static uint32_t seed = 1;
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 16) % (unsigned)(most + 1);
}

int run(void)
{
    int right = 0, wrong = 0, aborted = 0;
    uint64_t last[2] = {0, 0};
    set_key(&key);
    for (int job = 0; job < jobs && camkes_next_job(); job++) {
        const uint64_t plain[2] = {(uint64_t)job, ~(uint64_t)job};
        uint64_t got[2];
        camkes_work(CAMKES_US(any(before)));
        cipher_encrypt(plain[0], plain[1], &got[0], &got[1]);
        if (camkes_request_aborted()) {
            aborted++;
            continue;
        }
        last[0] ^= plain[0];
        last[1] ^= plain[1];
        aes_encrypt(&key, (uint8_t *)last);
        *(memcmp(got, last, AES_BLOCK) == 0 ? &right : &wrong) += 1;
    }
    printf("%s: %d right, %d wrong, %d aborted, %s\n", get_instance_name(), right, wrong, aborted,
           vector() ? "as in FIPS 197" : "not as in FIPS 197");
    return 0;
}
