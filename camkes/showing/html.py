# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Pages are made of templates, which can include `style.css`: what is hidden in texts is spelled out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from camkes.visible import visible

if TYPE_CHECKING:
    import jinja2


def environment() -> jinja2.Environment:
    """What templates of pages are rendered by."""
    import jinja2

    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: visible(value) if type(value) is str else value,
    )
