# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Templates to text."""

from __future__ import annotations

from pathlib import Path

import jinja2

from camkes.generate.contexts import InstanceContext, SpaceContext
from camkes.generate.procedures import declare

TEMPLATES = Path(__file__).resolve().parents[2] / "templates"


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
        )
        self._environment.globals["declare"] = declare

    def render(self, template: str, me: InstanceContext | SpaceContext) -> str:
        return self._environment.get_template(template).render(me=me)
