# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The codes that a module defines."""

from __future__ import annotations

from types import ModuleType

from camkes.diagnostics import Code


def codes_of(module: ModuleType) -> list[Code]:
    return [value for value in vars(module).values() if isinstance(value, Code)]
