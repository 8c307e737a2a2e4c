/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* By itself: programs without a table of threads link it, as the timer driver. */
#include <camkes/thread.h>

__thread struct camkes_thread *camkes_running;
