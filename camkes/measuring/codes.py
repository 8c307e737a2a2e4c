# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Codes of diagnostics about measuring a machine."""

from __future__ import annotations

from camkes.diagnostics import Code

INCOMPLETE_LOG = Code("E0790", "incomplete-measurement")
DAMAGED_LOG = Code("E0791", "damaged-measurement")
OTHER_IMAGE = Code("E0792", "measured-by-another-image")
NOT_BOOTED = Code("E0793", "board-not-booted")
