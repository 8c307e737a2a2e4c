/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#pragma once

/* The last value that was published. */
typedef struct {
    _Atomic int value;
} topic_t;
