# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Which sources and flags belong to a system: CMake is asked, its answer kept by the files that it read."""
