# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The sources and flags of a system, as CMake declares them; results are cached by the files that CMake
read."""
