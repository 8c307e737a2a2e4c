# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Codes of diagnostics about rendering templates of connectors and components."""

from __future__ import annotations

from camkes.diagnostics import Code

TEMPLATE_ERROR = Code("E0956", "template-error")
TEMPLATE_FAILED = Code("E0957", "template-failed")
NO_TEMPLATE = Code("E0958", "no-template")
