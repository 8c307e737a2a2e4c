# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What an application's `.camkes` files declare, as far as the library is concerned."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from msgspec import Struct, field

from camkes.model.connectors import LIBRARY_CONNECTOR
from camkes_migrate.tokens import Document, Token

#: Files of the library, by name.
SYSTEM_FILES = ("priority-protocols.camkes.h", "priority-connectors.camkes")
HEADERS = (
    "priority-protocols.h",
    "priority-inheritance.h",
    "priority-propagation.h",
    "notification-manager.h",
    "thread-manager.h",
)
SOURCES = tuple(name.removesuffix(".h") + ".c" for name in HEADERS)
CONNECTOR = LIBRARY_CONNECTOR
TASK_MACRO, INTERFACE_MACRO = "task_priority_attributes", "interface_priority_attributes"
#: The parameters that requests of the library carry, in this order, at the end.
CARRIED = ("priority", "requestor")


#: An instance: the component that it is a part of, "" for the assembly, and its name there.
InstancePath: TypeAlias = tuple[str, str]


class LibraryMethod(Struct):
    """`parameters` counts all, `carried` those at the end that the library needs."""

    name: str
    parameters: int
    carried: int
    opening: int  # its parenthesis


class LibraryProcedure(Struct):
    name: str
    document: Document
    methods: dict[str, LibraryMethod] = field(default_factory=dict)


class LibraryInterface(Struct):
    """`marked`: the library's attributes are declared for it."""

    kind: str
    type: str
    name: str
    document: Document
    end: int  # the semicolon
    marked: bool = False


class LibraryAttribute(Struct):
    """Tokens of a declaration; of a macro's invocation with a name "" for all it declares."""

    name: str
    first: int
    last: int


class LibraryComponent(Struct):
    name: str
    document: Document
    opening: int
    interfaces: dict[str, LibraryInterface] = field(default_factory=dict)
    attributes: list[LibraryAttribute] = field(default_factory=list)
    task: LibraryAttribute | None = None


class LibrarySetting(Struct):
    """`inst.name = value;`, as tokens."""

    document: Document
    instance: InstancePath
    name: str
    first: int
    last: int

    @property
    def value(self) -> list[Token]:
        return self.document.tokens.all[self.first + 4 : self.last]


class LibraryConnection(Struct):
    """`connector` are the tokens of the connector's name or of the macro that makes it."""

    document: Document
    connector: tuple[int, int]
    ends: list[tuple[str, InstancePath, str]]  # from or to, instance, interface
    prioritized: bool


class LibraryDeclarations(Struct):
    """The declarations of all `.camkes` files. `marks` counts what only the library has."""

    procedures: dict[str, LibraryProcedure] = field(default_factory=dict)
    components: dict[str, LibraryComponent] = field(default_factory=dict)
    instances: dict[InstancePath, str] = field(default_factory=dict)
    settings: list[LibrarySetting] = field(default_factory=list)
    connections: list[LibraryConnection] = field(default_factory=list)
    marks: int = 0

    def component_of(self, instance: InstancePath) -> LibraryComponent | None:
        return self.components.get(self.instances.get(instance, ""))

    def library_interfaces(self) -> set[tuple[str, str]]:
        """(component, interface) of all that the library serves."""
        found = {
            (c.name, i.name) for c in self.components.values() for i in c.interfaces.values() if i.marked
        }
        for setting in self.settings:
            component = self.component_of(setting.instance)
            if setting.name.endswith("_priority_protocol") and component is not None:
                found.add((component.name, setting.name.removesuffix("_priority_protocol")))
        for connection in self.connections:
            for role, instance, interface in connection.ends:
                component = self.component_of(instance)
                if connection.prioritized and role == "to" and component is not None:
                    found.add((component.name, interface))
        return found


def read(documents: list[Document]) -> LibraryDeclarations:
    """Read the declarations of all files."""
    found = LibraryDeclarations()
    for document in documents:
        tokens = document.tokens
        scope, end = "", 0
        for number, token in enumerate(tokens.all):
            if number >= end:
                scope = ""
            if token.kind == "directive":
                found.marks += any(name in token.text for name in SYSTEM_FILES) and "include" in token.text
            elif token.text == "import":
                found.marks += SYSTEM_FILES[1] in tokens.text(number + 1)
            elif token.text == "procedure" and tokens.text(number + 2) == "{":
                _procedure(document, number, found)
            elif token.text == "component" and tokens.text(number + 2) == "{":
                scope, end = tokens.text(number + 1), tokens.partner.get(number + 2, 0)
                _component(document, number, found)
            elif token.text == "component" and tokens.text(number + 3) == ";":
                found.instances[scope, tokens.text(number + 2)] = tokens.text(number + 1)
            elif token.text == "connection":
                _connection(document, number, scope, found)
            elif token.text == "=" and tokens.text(number - 2) == "." != tokens.text(number - 4):
                _setting(document, number, scope, found)
    return found


def _procedure(document: Document, number: int, found: LibraryDeclarations) -> None:
    tokens = document.tokens
    procedure = found.procedures.setdefault(
        tokens.text(number + 1), LibraryProcedure(tokens.text(number + 1), document)
    )
    for at in range(number + 3, tokens.partner.get(number + 2, number)):
        if tokens.text(at) == "(" and tokens[at - 1].kind == "name":
            parts = tokens.arguments(at)
            names = [tokens.text(last - 1) for _, last in parts]
            carried = 0
            for wanted in (CARRIED, CARRIED[:1]):
                if tuple(names[-len(wanted) :]) == wanted:
                    carried = len(wanted)
                    break
            name = tokens.text(at - 1)
            procedure.methods[name] = LibraryMethod(name, len(parts), carried, at)


def _component(document: Document, number: int, found: LibraryDeclarations) -> None:
    tokens = document.tokens
    name = tokens.text(number + 1)
    component = found.components.setdefault(name, LibraryComponent(name, document, number + 2))
    at, closing = number + 3, tokens.partner.get(number + 2, number + 2)
    while at < closing:
        end = _statement_end(document, at, closing)
        word = tokens.text(at)
        if word in ("provides", "uses"):
            interface = LibraryInterface(word, tokens.text(at + 1), tokens.text(at + 2), document, end)
            component.interfaces[interface.name] = interface
        elif word == "attribute":
            name = tokens.text(at + 2)
            component.attributes.append(LibraryAttribute(name, at, end))
            found.marks += name.endswith("_priority_protocol")
        elif word in (TASK_MACRO, INTERFACE_MACRO) and tokens.text(at + 1) == "(":
            last = tokens.partner.get(at + 1, at + 1)
            end = last + (tokens.text(last + 1) == ";")
            found.marks += 1
            if word == TASK_MACRO:
                component.task = LibraryAttribute("", at, end)
            else:
                component.attributes.append(LibraryAttribute("", at, end))
        at = end + 1
    for attribute in component.attributes:
        marked = _interface_of(document, attribute)
        if marked in component.interfaces:
            component.interfaces[marked].marked = True


def _interface_of(document: Document, attribute: LibraryAttribute) -> str:
    if attribute.name:
        suffix = "_priority_protocol"
        return attribute.name.removesuffix(suffix) if attribute.name.endswith(suffix) else ""
    return document.tokens.text(attribute.first + 2)


def _statement_end(document: Document, at: int, closing: int) -> int:
    tokens = document.tokens
    while at < closing and tokens.text(at) != ";":
        partner = tokens.partner.get(at, at)
        if tokens.text(at) == "{":
            return partner  # a block, as of a composition
        at = partner + 1
    return at


def _connection(document: Document, number: int, scope: str, found: LibraryDeclarations) -> None:
    tokens = document.tokens
    last = number + 1
    macro = tokens.text(number + 2) == "(" and tokens.text(tokens.partner.get(number + 2, -1) + 2) == "("
    if macro:
        last = tokens.partner[number + 2]
    opening = last + 2
    if tokens.text(opening) != "(" or tokens[last + 1].kind != "name":
        return
    ends = [
        (tokens.text(first), (scope, ".".join(_words(document, first + 1, end - 2))), tokens.text(end - 1))
        for first, end in tokens.arguments(opening)
    ]
    name = tokens.text(number + 1)
    prioritized = (macro and name == "rpc") or (name.startswith(CONNECTOR) and name != CONNECTOR)
    found.marks += prioritized
    found.connections.append(LibraryConnection(document, (number + 1, last), ends, prioritized))


def _words(document: Document, first: int, last: int) -> Iterator[str]:
    return (t.text for t in document.tokens.all[first:last] if t.kind == "name")


def _setting(document: Document, number: int, scope: str, found: LibraryDeclarations) -> None:
    tokens = document.tokens
    last = number
    while last < len(tokens) and tokens.text(last) != ";":
        last = tokens.partner.get(last, last) + 1
    if last < len(tokens) and tokens.depth[number]:
        found.settings.append(
            LibrarySetting(
                document, (scope, tokens.text(number - 3)), tokens.text(number - 1), number - 3, last
            )
        )
