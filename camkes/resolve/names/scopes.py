# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Top-level names: one name space for each kind of definition, and a definition comes before its use."""

from __future__ import annotations

import re
from itertools import islice
from typing import NamedTuple

from camkes.diagnostics import Label, Sink, Span
from camkes.parser import ast
from camkes.resolve import codes
from camkes.resolve.words.nearest import suggestion

_KINDS: dict[type, str] = {
    ast.ProcedureDecl: "procedure",
    ast.StructDecl: "struct",
    ast.ConnectorDecl: "connector",
    ast.ComponentDecl: "component",
    ast.CompositionDecl: "composition",
    ast.ConfigurationDecl: "configuration",
    ast.AssemblyDecl: "assembly",
}


STANDARD_CONNECTORS = "std_connector.camkes"
_MOST_FILES = 100  # that are searched for a definition


def _defined_in(kind: str, name: ast.Identifier) -> str | None:
    """The file beside the one that uses a name, or in a folder there, that defines it."""
    own = name.span.file.path
    pattern = re.compile(rf"^\s*{kind}\s+{re.escape(name.text)}\b\s*\{{", re.MULTILINE)
    for path in islice(sorted((*own.parent.glob("*.camkes"), *own.parent.glob("*/*.camkes"))), _MOST_FILES):
        try:
            if path != own and pattern.search(path.read_text("utf-8", "replace")):
                return path.relative_to(own.parent).as_posix()
        except OSError:
            continue
    return None


def kind_of(item: object) -> str | None:
    return _KINDS.get(type(item))


def new_member(seen: dict[str, Span], name: ast.Identifier, what: str, sink: Sink) -> bool:
    """Enter a name; false, and an error, if it was taken."""
    if name.text not in seen:
        seen[name.text] = name.span
        return True
    sink.report(
        codes.DUPLICATE_NAME,
        f"{what} `{name.text}` has a name that is already in use",
        name.span,
        "defined again here",
        related=[Label(seen[name.text], "first defined here")],
        help="give one of them another name, or remove it",
    )
    return False


class Definition(NamedTuple):
    """A named top-level definition and its place in the order of the text."""

    node: ast.TopLevelItem
    name: ast.Identifier
    position: int


class TopLevel:
    """The named definitions of a program."""

    def __init__(self, items: list[ast.TopLevelItem], forward: bool, whole: bool, sink: Sink) -> None:
        self.forward = forward
        self.whole = whole
        self.sink = sink
        self.spaces: dict[str, dict[str, Definition]] = {kind: {} for kind in _KINDS.values()}
        self.nameless: dict[str, Span] = {}  # the first definition of a kind that has no name
        for position, node in enumerate(items):
            kind = kind_of(node)
            name = None if kind is None else getattr(node, "name", None)
            if kind is not None and name is not None:
                self.define(kind, name, node, position)
            elif kind is not None:
                self.nameless.setdefault(kind, node.span)

    def define(self, kind: str, name: ast.Identifier, node: ast.TopLevelItem, position: int) -> None:
        first = self.spaces[kind].setdefault(name.text, Definition(node, name, position))
        if first.position != position:
            self.sink.report(
                codes.DUPLICATE_NAME,
                f"{kind} `{name.text}` is defined twice",
                name.span,
                "defined again here",
                related=[Label(first.name.span, "first defined here")],
                help="give one of them another name, or remove it",
            )

    def find(self, kind: str, name: ast.Identifier, position: int) -> Definition | None:
        """The definition that `name`, used in the item at `position`, means; else None, and an error."""
        found = self.spaces[kind].get(name.text)
        if found is None:
            self.unknown(kind, name)
        elif found.position > position and not self.forward and self.whole:
            self.sink.report(
                codes.USED_BEFORE_DEFINED,
                f"{kind} `{name.text}` is used before it is defined",
                name.span,
                related=[Label(found.name.span, "defined here")],
                notes=["forward references are allowed with --allow-forward-references"],
                help=f"move the definition of `{name.text}` up, or import its file first",
            )
        return found

    def unknown(self, kind: str, name: ast.Identifier) -> None:
        if not self.whole:
            return  # what is missing may have the name
        others = {other: space[name.text] for other, space in self.spaces.items() if name.text in space}
        related = [Label(found.name.span, f"a {other} has this name") for other, found in others.items()]
        if kind in self.nameless:
            whole = self.nameless[kind]
            word = Span(whole.file, whole.line, whole.column, whole.line, whole.column + len(kind))
            related.append(Label(word, f"this {kind} has no name"))
        help = suggestion(name.text, self.spaces[kind])
        if kind == "connector" and name.text.startswith("seL4") and not self.spaces[kind]:
            help = f"the standard connectors come with `import <{STANDARD_CONNECTORS}>;`"
        if not help and (place := _defined_in(kind, name)) is not None:
            help = f'{place} defines it: add `import "{place}";`'
        self.sink.report(
            codes.UNKNOWN_NAME,
            f"there is no {kind} `{name.text}`",
            name.span,
            "not defined",
            related=related,
            help=help,
        )
