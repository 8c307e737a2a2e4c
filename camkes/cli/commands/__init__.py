# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The commands, by what they work on. `camkes.cli.table` lists them."""
