# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What a package has that is not in the repository: the parse tables, made once for every installation."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ParseTables(BuildHookInterface):  # type: ignore[type-arg]
    """Makes `parser/tables.marshal` before files are collected."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        sys.path.insert(0, self.root)
        try:
            from camkes.parser import tables

            tables.load()
        finally:
            sys.path.remove(self.root)
        if not (Path(self.root) / "camkes" / "parser" / tables.STORED.name).is_file():
            raise OSError(f"the parse tables cannot be written to {tables.STORED}")
