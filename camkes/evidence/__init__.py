# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Evidence of the tool for an assessor: requirements, their tests, and what these came to."""
