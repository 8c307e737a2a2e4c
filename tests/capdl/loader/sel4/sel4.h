/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* capDL-tool's tables include this beside `capdl.h`, and need nothing of it. */
