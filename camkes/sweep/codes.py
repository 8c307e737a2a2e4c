# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Codes of sweeps: what is varied, and files of results."""

from __future__ import annotations

from camkes.diagnostics import Code

VARIED_VALUES = Code("E0780", "varied-values")
VARIED_SETTING = Code("E0781", "varied-setting")
RESULTS_FILE = Code("E0782", "results-file")
