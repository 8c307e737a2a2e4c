# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A system as plain data for JSON: the same system gives the same text, wherever its files lie."""

from __future__ import annotations

import os.path
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from camkes.diagnostics import SourceFile, Span
from camkes.documents import json_text
from camkes.model.system import ComponentType, Connector, Procedure, System

#: Fields that repeat others, or that are of no use in a dump.
_LEFT_OUT = frozenset({"_by_name", "configured", "files"})


#: Definitions that much refers to: written once, in a table of their own.
_TABLES: dict[type, str] = {ComponentType: "components", Procedure: "procedures", Connector: "connectors"}


def dump(system: System, *, places: bool = False) -> dict[str, Any]:
    """The system as dictionaries, lists, numbers and strings.

    Component types, procedures and connectors are in tables, and named where they are used. With `places`
    every span is written too, as "file:line:column".
    """
    dumper = _Dumper(system, places)
    return {**dumper.record(system), **dumper.tables}


def dump_text(system: System, *, places: bool = False) -> str:
    """The dump as JSON text."""
    return json_text(dump(system, places=places)) + "\n"


class _Dumper:
    def __init__(self, system: System, places: bool) -> None:
        self.places = places
        self.folder = system.root.path.parent
        self.tables: dict[str, dict[str, Any]] = {table: {} for table in _TABLES.values()}
        self.names: dict[int, str] = {}

    def value(self, value: object) -> Any:
        match value:
            case Span():
                return f"{self.path(value.file.path)}:{value.line}:{value.column}"
            case SourceFile():
                return self.path(value.path)
            case Enum():
                return value.value
            case Mapping():
                return {key: self.value(item) for key, item in value.items()}
            case tuple() | list():
                return [self.value(item) for item in value]
            case ComponentType() | Procedure() | Connector():
                return self.reference(value)
        if isinstance(value, Struct):
            return self.record(value)
        return value

    def reference(self, value: ComponentType | Procedure | Connector) -> str:
        """The name of a definition; a number distinguishes two of one name (unnamed ones)."""
        if id(value) not in self.names:
            table = self.tables[_TABLES[type(value)]]
            name = value.name
            record = self.record(value)
            number = 1
            while table.setdefault(name, record) != record:
                number += 1
                name = f"{value.name}#{number}"
            self.names[id(value)] = name
        return self.names[id(value)]

    def record(self, record: Any) -> dict[str, Any]:
        result = {}
        for name, value in asdict(record).items():
            if name not in _LEFT_OUT and (self.places or not _is_place(name)):
                result[name] = self.value(value)
        return result

    def path(self, path: Path) -> str:
        """A path as seen from the folder of the root file."""
        return os.path.relpath(path, self.folder)


def _is_place(name: str) -> bool:
    return name == "span" or name.endswith(("_span", "spans"))
