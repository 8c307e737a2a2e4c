# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What is expected next in a statement or a call: the form of a connection, the clauses of an interface, the
values of a setting, the parameters of a method in C."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from camkes.diagnostics import Sink
from camkes.editor.code import meaning
from camkes.editor.complete import WritingPlace, before_place, place_in
from camkes.editor.hover import setting_named, signature
from camkes.editor.index import Index, NamedSymbol
from camkes.editor.words import VALUES, WORDS
from camkes.editor.workspace import SystemSnapshot
from camkes.generate.procedures import prototype
from camkes.model import connectors
from camkes.model.settings import TABLE
from camkes.model.system import Procedure
from camkes.parser import ast
from camkes.resolve.names.resolver import Names
from camkes.scaffold.stubs import without_literals

_CALL = re.compile(r"(\w+)\s*\(\Z")
_CLAUSES = {
    "provides": ("priority_protocol", "requests", "monitor", "overrun"),
    "consumes": ("helpers", "within"),
    "connection": ("threads",),
}
_FORMS = {
    "priority_protocol": "priority_protocol PROTOCOL",
    "requests": "requests (INTERFACE, ...)",
    "monitor": "monitor NAME",
    "overrun": "overrun POLICY",
    "helpers": "helpers (TASK, ...)",
    "within": "within TIME",
    "threads": "N threads",
}


class Signature(NamedTuple):
    """A form with its parameters, each as it is written in `label`, and what it means; `active` is the number
    of the one at the cursor."""

    label: str
    parameters: Sequence[tuple[str, str]]
    active: int
    about: str = ""


def signature_at(analysis: SystemSnapshot, path: Path, text: str, offset: int) -> Signature | None:
    """What is expected at an offset of the text of a system."""
    place = place_in(path, before_place(text, offset))
    if place is None or not place.item:
        return None
    block = place.blocks[-1] if place.blocks else ""
    head = next((word for word in place.item if word != "maybe"), "")
    if "with" in place.item and head in _CLAUSES:
        return _clauses(place.item, head)
    if head == "connection" and "(" in place.item:
        return _connection(analysis.index, place.item)
    if block == "configuration" and "=" in place.item:
        return _setting(analysis.index, place)
    if block == "procedure" and "(" in place.item:
        return _method(place.item)
    return None


def _clauses(item: list[str], head: str) -> Signature | None:
    """The clause that is written, or the first one."""
    names = _CLAUSES[head]
    written = [word for word in item[item.index("with") :] if word in names]
    active = names.index(written[-1]) if written else 0
    clause = names[active]
    values = VALUES.get(clause, {})
    about = "\n".join(f"- `{value}`: {text}" for value, text in values.items())
    parameters = [(_FORMS[name], WORDS[name]) for name in names]
    return Signature(f"with {', '.join(_FORMS[name] for name in names)}", parameters, active, about)


def _connection(index: Index, item: list[str]) -> Signature | None:
    """The ends of a connector."""
    name = item[1] if len(item) > 1 else ""
    symbol = index.tops["connector"].get(name)
    node = symbol.node if symbol is not None else None
    if not isinstance(node, ast.ConnectorDecl):
        return None
    sides = {"from": "from INSTANCE.INTERFACE", "to": "to INSTANCE.INTERFACE"}
    parameters = []
    for end in node.ends:
        what = end.kind.lower() + (", one or more ends" if end.many else "")
        what += ", of hardware" if end.hardware else ""
        parameters.append((sides[end.side] + (", ..." if end.many else ""), what))
    side = next((word for word in reversed(item) if word in sides), "from")
    active = next((n for n, end in enumerate(node.ends) if end.side == side), 0)
    known = connectors.TABLE.get(name)
    about = f"`{name}` transports {known.carries.value}" if known is not None else ""
    label = f"connection {name} NAME({', '.join(label for label, _ in parameters)})"
    return Signature(label, parameters, active, about)


def _setting(index: Index, place: WritingPlace) -> Signature | None:
    """The values of a setting or an attribute."""
    path = place.item[: place.item.index("=")]
    if len(path) != 3 or path[1] != ".":
        return None
    name = path[2]
    owner = index.tops["component"].get(place.owner or "")
    scope = owner.scope if owner is not None and "assembly" not in place.blocks else index.assembly
    instance = scope.instances.get(path[0]) if scope is not None else None
    if instance is None:
        known = TABLE.get(name)
    else:
        members = instance.type.members if instance.type else {}
        if name in members and members[name].kind == "attribute":
            form = signature(members[name]).rstrip(";")
            return Signature(form, [(form, "")], 0, f"of component `{_name(instance.type)}`")
        known = setting_named(name, [m for m, symbol in members.items() if symbol.kind != "attribute"])
    if known is None:
        return None
    value = f"{name} = {known.values}"
    usual = f"; {known.usual} where not given" if known.usual else ""
    return Signature(value, [(known.values, known.about)], 0, f"{known.about}{usual}")


def _name(symbol: NamedSymbol | None) -> str:
    return symbol.name.text if symbol is not None else ""


def _method(item: list[str]) -> Signature:
    """The parameters of a method that is declared."""
    forms = {word: f"{word} TYPE NAME" for word in ("in", "out", "inout", "refin")}
    last = next((word for word in reversed(item) if word in forms), "in")
    label = f"{' '.join(item[: item.index('(')])}({' | '.join(forms.values())}, ...)"
    return Signature(label, [(form, WORDS[word]) for word, form in forms.items()], list(forms).index(last))


def call_at(analysis: SystemSnapshot, path: Path, text: str, offset: int) -> Signature | None:
    """The method that is called around an offset of C code."""
    code = without_literals(text)
    depth = commas = 0
    for at in range(offset - 1, max(offset - 2000, -1), -1):
        mark = code[at]
        if mark in ";{}":
            return None
        depth += {")": 1, "(": -1}.get(mark, 0)
        commas += mark == "," and depth == 0
        if depth < 0:
            called = _CALL.search(code, max(0, at - 200), at + 1)
            if called is None:
                return None
            start = code.rfind("\n", 0, called.start()) + 1
            line = code[start:].partition("\n")[0]
            found = meaning(analysis, path, line, called.end(1) - start + 1)
            return None if found is None else _called(analysis, called[1], found[1], commas)
    return None


def _called(analysis: SystemSnapshot, function: str, symbol: NamedSymbol, active: int) -> Signature | None:
    """The prototype of a method as C code sees it."""
    if symbol.kind != "method" or symbol.owner is None:
        return None
    names = Names(analysis.program, analysis.options.allow_forward_references, Sink())
    names.resolve()
    interface = function.removesuffix(f"_{symbol.name.text}")
    for component in names.components:
        for each in component.type.interfaces:
            if each.name != interface or not isinstance(each.type, Procedure):
                continue
            for method in each.type.methods if each.type.name == symbol.owner.name.text else ():
                if method.name == symbol.name.text:
                    label = prototype(method, interface)
                    inside = label[label.index("(") + 1 : -1]
                    parameters = [] if inside == "void" else inside.split(", ")
                    return Signature(label, [(p, "") for p in parameters], active, f"`{signature(symbol)}`")
    return None
