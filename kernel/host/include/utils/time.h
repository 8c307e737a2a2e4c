/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* How many of one unit of time are in another. */
#pragma once

#include <stdint.h>

#define NS_IN_US ((uint64_t)1000)
#define US_IN_MS NS_IN_US
#define MS_IN_S NS_IN_US
#define NS_IN_MS (NS_IN_US * US_IN_MS)
#define US_IN_S (US_IN_MS * MS_IN_S)
#define NS_IN_S (NS_IN_MS * MS_IN_S)
#define S_IN_MINUTE ((uint64_t)60)
#define NS_IN_MINUTE (NS_IN_S * S_IN_MINUTE)
