# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Codes of diagnostics about paths through programs."""

from __future__ import annotations

from camkes.diagnostics import Code

UNBOUNDED_LOOP = Code("E0795", "loop-without-bound")
UNKNOWN_CALL = Code("E0796", "call-not-followed")
NO_PATH = Code("E0797", "path-not-found")
UNUSABLE_BOUNDS = Code("E0798", "bounds-not-usable")
