/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The seL4 API as the host kernel offers it. */
#pragma once

#include <sel4/absent.h>
#include <sel4/errors.h>
#include <sel4/faults.h>
#include <sel4/syscalls.h>
#include <sel4/types.h>
