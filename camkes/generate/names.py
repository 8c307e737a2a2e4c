# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Names and places of the user's text as they appear in generated C."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

from camkes.diagnostics import Span


def c_name(name: str) -> str:
    """A C identifier made of a name of the user's, which may be dotted."""
    return re.sub(r"\W", "_", name, flags=re.ASCII)


def fresh(name: str, taken: Collection[str]) -> str:
    """`name`, or a longer one that is not taken."""
    while name in taken:
        name += "_"
    return name


def comment(text: str) -> str:
    """Text that cannot end a C comment."""
    return text.replace("*/", "* /").replace("/*", "/ *").replace("\n", " ")


class Places:
    """Files and lines for comments: below the system's folder `root` relative to it, else the name only, so
    that output does not depend on where the files are."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()
        self._shown: dict[Path, str] = {}

    def of(self, span: Span) -> str:
        path = span.file.path
        shown = self._shown.get(path)
        if shown is None:
            try:
                shown = path.resolve().relative_to(self._root).as_posix()
            except ValueError:
                shown = path.name
            self._shown[path] = shown
        return comment(f"{shown}:{span.line}")


def c_string(text: str) -> str:
    """A C string literal."""
    out: list[str] = []
    for char in text:
        if char in '"\\':
            out.append("\\" + char)
        elif char == "\n":
            out.append("\\n")
        elif char == "\t":
            out.append("\\t")
        elif " " <= char <= "~":
            out.append(char)
        else:
            out.extend(f"\\{byte:03o}" for byte in char.encode())
    return '"' + "".join(out).replace("??", '?""?') + '"'
