# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Sphinx's settings for the documentation site: `make site` writes it to build/site."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent))
import markup

from camkes import __version__

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "camkes-rt"
author = "The camkes-rt developers"
project_copyright = "2026 The camkes-rt developers"
version = release = __version__

extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
myst_heading_anchors = 4
myst_heading_slug_func = "markup.anchor"
nitpicky = True
suppress_warnings = ["misc.highlighting_failure", "myst.header", "toc.not_included"]

html_theme = "furo"
html_title = "camkes-rt"
html_static_path = [str(Path(__file__).parent / "static")]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"


def setup(app: Sphinx) -> None:
    app.add_lexer("camkes", markup.SystemLexer)
