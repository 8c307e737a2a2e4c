/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The records of a CPI against each other, as its manager leaves them after each message. */
#pragma once

#include <camkes/cpi.h>

#if CAMKES_ASSERTIONS
/* A context and its worker, with the word of the lock. */
void camkes_check_thread(struct camkes_cpi *cpi, const struct camkes_context *context);
/* All contexts of a member of a group. */
void camkes_check_member(struct camkes_cpi *cpi);
/* All contexts and waiters of a CPI with a lock of its own. */
void camkes_check_cpi(struct camkes_cpi *cpi);
#else
#define camkes_check_member(cpi) ((void)(cpi))
#define camkes_check_cpi(cpi) ((void)(cpi))
#endif
