/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* A struct that is a parameter. */
#pragma once

#include <stdint.h>

typedef struct {
    double x, y, z;
    uint32_t sequence;
} point_t;
