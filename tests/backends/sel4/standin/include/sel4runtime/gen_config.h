/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#pragma once

#define CONFIG_SEL4RUNTIME_STATIC_TLS 16384
