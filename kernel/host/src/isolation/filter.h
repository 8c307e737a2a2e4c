/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Which system calls a process of a component may make. */
#pragma once

#include <stdbool.h>

/* While an image is loaded, or (narrower) for ever after. False: the workstation has no filters;
 * errno says why. */
bool filter_install(bool loading);
/* Whether a call that was caught is one of this machine's own ABI. */
bool filter_knows(unsigned machine, int call);
