// SPDX-License-Identifier: BSD-2-Clause
// SPDX-FileCopyrightText: 2026 The camkes-rt developers
#include <camkes.h>
int run(void) { camkes_work(CAMKES_MS(1)); return 0; }
