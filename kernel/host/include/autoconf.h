/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The configuration of an seL4 build. The host kernel has none: every option is off. */
#pragma once
