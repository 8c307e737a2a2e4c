/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* What camkes/cpi.h needs of this header, for Frama-C, which does not read all of C11. */
#pragma once

#include <camkes/message.h>

struct camkes_thread {
    struct camkes_cpi *cpi;
    seL4_Word badge;
};
