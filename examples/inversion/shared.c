/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>

void store_update(int work_ms)
{
    camkes_work(CAMKES_MS(work_ms));
}
