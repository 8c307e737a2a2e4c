# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Kinds of diagnostics about the values of settings that the tool itself reads."""

from __future__ import annotations

from camkes.diagnostics import Code

SETTING_TYPE = Code("E0601", "setting-of-wrong-type")
SETTING_RANGE = Code("E0602", "setting-out-of-range")
ACCESS_RIGHTS = Code("E0603", "unknown-access-rights")
RPC_BUFFER = Code("E0656", "rpc-buffer")

CODES = (SETTING_TYPE, SETTING_RANGE, ACCESS_RIGHTS, RPC_BUFFER)
