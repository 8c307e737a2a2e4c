# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The files that come with the tool, and their trees, which are kept: nearly every system imports them.

A tree counts for the text that it was made of, by the parser that made it. Where there is none, the file is
parsed, and its tree kept for the next run.
"""

from __future__ import annotations

import marshal
import os
from functools import lru_cache
from pathlib import Path

from camkes.diagnostics import Sink, SourceFile, Span
from camkes.parser import ast
from camkes.parser.parse import ParseOptions, is_plain, parse
from camkes.parser.tables import GRAMMAR, keep

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    #: Text, and the items of its tree as bytes.
    Kept: TypeAlias = tuple[str, bytes]

#: The files that `import <name>` finds after those of the import path.
BUILTIN = Path(__file__).parent / "builtin"

#: Stands in for a library that applications name by a path beside their own: found last.
LIBRARY = BUILTIN / "priority-aware-camkes"

STORED = Path(__file__).with_name("library.marshal")
_PARSER = ("ast.py", "build.py", "camkes.lark", "lexer.py", "parse.py", "positions.py", "tables.py")
_FOLDER = f"{BUILTIN}{os.sep}"


def parse_import(source: SourceFile, sink: Sink, options: ParseOptions) -> ast.File | None:
    """The tree of a file as `parse` makes it; of a file of the library perhaps the one that was kept."""
    path = str(source.path)
    if not path.startswith(_FOLDER) or not is_plain(source, options):
        return parse(source, sink, options=options)
    name, trees = path.removeprefix(_FOLDER), _trees()
    text, data = trees.get(name, ("", b""))
    if data and text == source.text:
        return ast.File(source, _unpacked(marshal.loads(data), source), (source,))
    file = parse(source, sink, options=options)
    if file is not None and file.complete:
        trees[name] = source.text, marshal.dumps(_packed(file.items))
        keep(STORED, (_key(), trees))
    return file


@lru_cache(maxsize=1)
def _trees() -> dict[str, Kept]:
    """What was kept, by the name of the file in the library."""
    try:
        key, trees = marshal.loads(STORED.read_bytes())
    except (OSError, ValueError, EOFError, TypeError):
        return {}
    return trees if key == _key() and isinstance(trees, dict) else {}


def _key() -> list[tuple[int, int]]:
    """Which parser it is, as Python knows the sources of its byte code: by time and size."""
    folder = GRAMMAR.parent
    found = [os.stat(f"{folder}/{name}") for name in _PARSER]  # noqa: PTH116
    return [(status.st_mtime_ns, status.st_size) for status in found]


def _packed(value: Any) -> Any:
    """A tree of what `marshal` knows: a node is a tuple with its class, place and parts, a tuple a list."""
    kind = type(value)
    if kind is tuple:
        return [_packed(item) for item in value]
    if kind.__module__ != ast.__name__:
        return value
    *parts, span = [getattr(value, name) for name in kind.__match_args__]
    return (kind.__name__, span[1:], *map(_packed, parts))


def _unpacked(packed: Any, file: SourceFile) -> Any:
    """The tree again, as one of `file`."""
    classes = vars(ast)

    def value(packed: Any) -> Any:
        kind = type(packed)
        if kind is tuple:
            name, place, *parts = packed
            return classes[name](*map(value, parts), Span(file, *place))
        if kind is list:
            return tuple(map(value, packed))
        return packed

    return value(packed)
