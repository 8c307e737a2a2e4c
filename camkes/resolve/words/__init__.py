# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Words: what a misspelt one was meant to be, and those that C or templates have taken."""
