/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The refills of a scheduling context; nothing else of the kernel. Times are nanoseconds. */
#pragma once

#include "objects/objects.h"

void refill_new(struct context *context, unsigned most, uint64_t budget, uint64_t period,
                uint64_t now);
void refill_update(struct context *context, unsigned most, uint64_t budget, uint64_t period,
                   uint64_t now);
bool refill_ready(const struct context *context, uint64_t now);
void refill_charge(struct context *context, uint64_t used, uint64_t least);
void refill_unblock(struct context *context, uint64_t now);
