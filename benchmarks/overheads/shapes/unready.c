/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Its threads execute when all others have done what they do. */
#include <camkes.h>

int run(void)
{
    return 0;
}
