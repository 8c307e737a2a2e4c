# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Templates to text."""

from __future__ import annotations

import os
from pathlib import Path

import jinja2

from camkes.generate.contexts import InstanceContext, SpaceContext
from camkes.generate.procedures import declare

TEMPLATES = Path(__file__).resolve().parents[2] / "templates"


def _cache() -> jinja2.BytecodeCache | None:
    """Where compiled templates are kept between runs; compiling them takes longer than all the rest."""
    base = os.environ.get("XDG_CACHE_HOME") or ""
    try:
        folder = (Path(base) if base.startswith("/") else Path.home() / ".cache") / "camkes-rt" / "templates"
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):
        return None
    return jinja2.FileSystemBytecodeCache(str(folder)) if os.access(folder, os.W_OK) else None


class Renderer:
    """Renders with delimiters that leave a template looking like C."""

    def __init__(self, folder: Path = TEMPLATES) -> None:
        self._environment = jinja2.Environment(
            loader=jinja2.FileSystemLoader(folder),
            block_start_string="/*-",
            block_end_string="-*/",
            variable_start_string="/*?",
            variable_end_string="?*/",
            comment_start_string="/*#",
            comment_end_string="#*/",
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
            undefined=jinja2.StrictUndefined,
            autoescape=False,
            bytecode_cache=_cache(),
        )
        self._environment.globals["declare"] = declare

    def render(self, template: str, me: InstanceContext | SpaceContext) -> str:
        return self._environment.get_template(template).render(me=me)
