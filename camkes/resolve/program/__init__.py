# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The program as a whole: its files and definitions, the flat system, its connections."""
