# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Kinds of diagnostics of a migration."""

from __future__ import annotations

from camkes.diagnostics import Code

LOOK = Code("N0851", "look-here")
NOTHING_TO_MIGRATE = Code("N0852", "nothing-to-migrate")
NO_FILES = Code("E0853", "no-files-to-migrate")
