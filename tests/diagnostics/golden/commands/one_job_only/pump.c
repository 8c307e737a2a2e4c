// SPDX-License-Identifier: BSD-2-Clause
// SPDX-FileCopyrightText: 2026 The camkes-rt developers
#include <camkes.h>
int run(void) { while (camkes_next_job()) { camkes_work(CAMKES_MS(1)); } return 0; }
