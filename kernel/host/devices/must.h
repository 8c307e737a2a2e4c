/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* What the code of the substitutes rests on. */
#pragma once

#include <stdbool.h>
#include <stdlib.h>

/* Ends the component if something does not hold that its code rests on. */
static inline void must(bool holds)
{
    if (!holds) {
        abort();
    }
}
