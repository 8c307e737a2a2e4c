# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Codes of diagnostics about generating C code."""

from __future__ import annotations

from camkes.diagnostics import Code

NEEDS_SEL4 = Code("E0651", "needs-sel4-kernel")
UNKNOWN_CONNECTOR = Code("E0652", "connector-without-template")
TIMER_METHOD = Code("E0653", "not-a-timer-method")
ATTRIBUTE_VALUE = Code("E0655", "attribute-value")
