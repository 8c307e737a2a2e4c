# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Files with directives, and what is read of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from camkes.diagnostics import Sink
from camkes.parser import ast
from camkes.parser.files import read_source
from camkes.parser.parse import ParseOptions, parse
from tests.parser.support import listing, nodes, place, written

Folder = Path


def load(path: Path, *flags: str, **options: Any) -> tuple[ast.File | None, Sink]:
    sink = Sink()
    source = read_source(path, sink)
    assert source is not None
    return parse(source, sink, options=ParseOptions(cpp_flags=flags, **options)), sink


def tree(path: Path, *flags: str, **options: Any) -> ast.File:
    result, sink = load(path, *flags, **options)
    assert result is not None, listing(sink)
    return result


def names(file: ast.File) -> dict[str, str]:
    """Each name with the place and the text that it has in the user's file."""
    found = [node for node in nodes(file.items) if isinstance(node, ast.Identifier)]
    return {
        name.text: f"{name.span.file.path.name}:{place(name.span)} {written(name.span)}" for name in found
    }
