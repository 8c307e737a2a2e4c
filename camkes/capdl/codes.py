# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Kinds of diagnostics of the capability allocator."""

from __future__ import annotations

from camkes.diagnostics import Code

WORD_LIMIT = Code("E0604", "does-not-fit-a-word")
