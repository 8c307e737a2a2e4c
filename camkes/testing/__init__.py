# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Tests of a project: assemblies and C files in its folder `tests`, with mocks of what they provide."""
