# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The files that come with the tool, and their trees, which are kept: nearly every system imports them.
Set-up keeps all of them, a run those that are missing.

What is kept counts for the text that it was made of, by the parser that made it. A system names few of the
definitions, so each is kept for itself and made into a tree when it is asked for.
"""

from __future__ import annotations

import marshal
import os
from functools import lru_cache
from pathlib import Path

from camkes.diagnostics import Sink, SourceFile, Span
from camkes.parser import ast
from camkes.parser.files import read_source
from camkes.parser.parse import ParseOptions, needs_preprocessor, parse
from camkes.parser.tables import GRAMMAR, keep

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    #: The kind, name and place of a definition, and its tree as bytes.
    _StoredItem: TypeAlias = tuple[str, str, list[int], bytes]

#: The files that `import <name>` finds after those of the import path.
BUILTIN = Path(__file__).parent / "builtin"

#: Stands in for a library that applications name by a path beside their own: found last.
LIBRARY = BUILTIN / "priority-aware-camkes"

STORED = Path(__file__).with_name("library.marshal")
_PARSER = ("ast.py", "build.py", "camkes.lark", "lexer.py", "parse.py", "positions.py", "tables.py")
_FOLDER = f"{BUILTIN}{os.sep}"


class Kept:
    """A definition of the library; `node` is its tree."""

    __slots__ = ("_file", "_node", "_packed", "kind", "name")

    def __init__(self, kind: type, name: ast.Name, packed: bytes, file: SourceFile) -> None:
        self.kind = kind
        self.name = name
        self._packed = packed
        self._file = file
        self._node: ast.TopLevelItem | None = None

    @property
    def node(self) -> ast.TopLevelItem:
        if self._node is None:
            self._node = _unpacked(self._packed, self._file)
        return self._node


Item: TypeAlias = "ast.TopLevelItem | Kept"


def kept_items(source: SourceFile, options: ParseOptions) -> tuple[Item, ...] | None:
    """The items of a file of the library as they were kept; None where the file has to be parsed."""
    path = str(source.path)
    if not path.startswith(_FOLDER):
        return None
    text, items = _stored().get(path.removeprefix(_FOLDER), ("", []))
    flags = options.cpp_flags if options.preprocess else ()
    if not items or text != source.text or (flags and needs_preprocessor(text, flags)):
        return None
    classes = vars(ast)
    return tuple(
        Kept(classes[kind], ast.Name(name, Span(source, *place)), packed, source)
        if name
        else _unpacked(packed, source)
        for kind, name, place, packed in items
    )


def keep_items(file: ast.File) -> None:
    """Keep the items of a file of the library for the next run."""
    path, text = str(file.source.path), file.source.text
    if path.startswith(_FOLDER) and file.complete and not needs_preprocessor(text, ()):
        stored = _stored()
        name, kept = path.removeprefix(_FOLDER), (text, [_stored_item(item) for item in file.items])
        if stored.get(name) != kept:
            stored[name] = kept
            keep(STORED, (_key(), stored))


def _stored_item(item: ast.TopLevelItem) -> _StoredItem:
    name = getattr(item, "name", None) or ast.Name("", item.span)
    _, *place = name.span
    return type(item).__name__, name.text, place, marshal.dumps(_packed(item))


@lru_cache(maxsize=1)
def _stored() -> dict[str, tuple[str, list[_StoredItem]]]:
    """The text and items of each file that was kept, by its name in the library."""
    try:
        key, stored = marshal.loads(STORED.read_bytes())
    except (OSError, ValueError, EOFError, TypeError):
        return {}
    return stored if key == _key() and isinstance(stored, dict) else {}


def _key() -> list[tuple[int, int]]:
    """Which parser it is, and which form, as Python knows the sources of its byte code: by time and size."""
    folder = GRAMMAR.parent
    found = [os.stat(name) for name in (__file__, *(f"{folder}/{name}" for name in _PARSER))]  # noqa: PTH116
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


def _unpacked(packed: bytes, file: SourceFile) -> Any:
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

    return value(marshal.loads(packed))


def keep_all() -> None:
    """Keep the trees of all files of the library."""
    for path in sorted(BUILTIN.rglob("*.camkes")):
        sink = Sink()
        source = read_source(path, sink)
        file = None if source is None else parse(source, sink)
        if file is not None:
            keep_items(file)
