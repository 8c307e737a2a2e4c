/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#pragma once

#include "aes.h"

/* The key of FIPS 197, C.3. */
static inline void set_key(struct aes_key *key)
{
    uint8_t secret[AES_KEY];
    for (unsigned i = 0; i < AES_KEY; i++) {
        secret[i] = (uint8_t)i;
    }
    aes_expand(key, secret);
}
