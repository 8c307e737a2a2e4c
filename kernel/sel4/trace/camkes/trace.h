/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Traces on seL4 have the host kernel's records; no other header of that kernel is for seL4. */
#pragma once

#include "../../../host/include/camkes/trace.h"
