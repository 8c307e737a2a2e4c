# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Kinds of diagnostics of the capability allocator."""

from __future__ import annotations

from camkes.diagnostics import Code

PASSIVE_CONNECTOR = Code("E0961", "passive-connector")
NOT_LISTED = Code("N0605", "capabilities-not-listed")
SHORT_ON_MCS = Code("E0962", "short-on-mcs")
WORD_LIMIT = Code("E0604", "does-not-fit-a-word")
