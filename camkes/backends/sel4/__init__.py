# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What a build for the seL4 kernel needs from the tool; the CMake package calls it."""
