/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* On seL4, how libsel4camkes was configured. On the host kernel, nothing of that can be chosen. */
#pragma once
