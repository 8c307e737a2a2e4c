# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Names of connectors, settings and protocols, and widths of words, are in `camkes.model` only."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from camkes.model import connectors, limits, settings, units
from camkes.model.protocols import Protocol

pytestmark = pytest.mark.requirement("TOOL-28")

ROOT = Path(__file__).resolve().parents[2]

#: names that are also words of the language or of English: a string does not show that a setting is meant
_WORDS = {"priority_protocol", "access", "buffer", "dtb", "helpers"}
_SETTINGS = sorted(settings.TABLE.keys() - _WORDS, key=len, reverse=True)
_NAMES = "|".join(_SETTINGS)
#: The name of a setting behind that of a thread or an interface, or a name that is not a word of English.
SETTING = re.compile(rf"\w*_(?:{_NAMES})|affinity|passive|{'|'.join(n for n in _SETTINGS if '_' in n)}")

CONNECTOR = re.compile(rf"\b({'|'.join((*connectors.TABLE, connectors.LIBRARY_CONNECTOR))})\b")

NUMBERS = {
    limits.MAX_PRIORITY,
    settings.DEFAULT_PRIORITY,
    settings.DEFAULT_STACK,
    units.PAGE,
    limits.INDEXES,
    limits.INDEXES + 1,
    limits.TASK_IDS,
    limits.TASK_IDS + 1,
    *(word.badge for word in limits.WORDS.values()),
}


def nodes_of(text: str) -> list[ast.AST]:
    return list(ast.walk(ast.parse(text)))


def strings(nodes: Sequence[ast.AST]) -> Iterator[str]:
    """Every string that is not documentation, and every part of one with values in it."""
    documentation = {
        id(node.body[0].value)
        for node in nodes
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            yield node.value


def numbers(nodes: Sequence[ast.AST]) -> Iterator[int]:
    """Every number, and those that are written as `1 << 12` or `(1 << 12) - 1`."""
    for node in nodes:
        match node:
            case ast.Constant(value=int(value)) if not isinstance(value, bool):
                yield value
            case ast.BinOp(ast.Constant(value=1), ast.LShift(), ast.Constant(value=int(bits))):
                yield 1 << bits


class Stated(NamedTuple):
    """What a file states."""

    path: str
    strings: frozenset[str]
    numbers: frozenset[int]
    protocols: tuple[str, ...]


@cache
def sources() -> tuple[Stated, ...]:
    """All Python files but those that state the facts."""
    found = [*(ROOT / "camkes").rglob("*.py"), *(ROOT / "parser").rglob("*.py")]
    kept = [path.relative_to(ROOT) for path in found]
    stated = []
    for path in sorted(p for p in kept if p.parts[:2] not in (("camkes", "model"), ("camkes", "parser"))):
        nodes = nodes_of((ROOT / path).read_text("utf-8"))
        stated.append(
            Stated(str(path), frozenset(strings(nodes)), frozenset(numbers(nodes)), tuple(protocols(nodes)))
        )
    return tuple(stated)


def places(pattern: re.Pattern[str]) -> set[tuple[str, str]]:
    """Every string of the sources that matches as a whole."""
    return {(file.path, s) for file in sources() for s in file.strings if pattern.fullmatch(s)}


SETTINGS_ALLOWED = {
    ("camkes/backends/sel4/project.py", "affinity"): "a field of what CMake writes",
    ("camkes/backends/sel4/project.py", "heap_size"): "a field of what CMake writes",
    ("camkes/backends/sel4/project.py", "stack_size"): "a field of what CMake writes",
    ("camkes/backends/upstream_templates/adapter.py", "cnode_size_bits"): "of templates of camkes-tool",
    ("camkes/backends/upstream_templates/context.py", "register_dma_pool"): "a function for templates",
    ("camkes/backends/upstream_templates/objects.py", "size_bits"): "an argument of that function",
    ("camkes/capdl/authority.py", "max_priority"): "a field of JSON",
    ("camkes/capdl/uses.py", "_data"): "a C variable",
    ("camkes/paths/program.py", "st_value"): "a field of a symbol in an ELF file",
    ("camkes/resolve/program/configure.py", "dtb_size"): "a field of the answer to a query",
    ("camkes/generate/threads.py", "passive"): "a member of a C record",
    ("camkes/running/kinds.py", "module_offset"): "a field of a record",
}


def test_settings_have_one_place() -> None:
    assert places(SETTING) - SETTINGS_ALLOWED.keys() == set()


def test_connectors_have_one_place() -> None:
    assert places(re.compile(rf"(?s).*{CONNECTOR.pattern}.*")) == set()


@pytest.mark.parametrize("path", sorted((ROOT / "templates").rglob("*.*")), ids=lambda path: path.name)
def test_templates_name_neither_settings_nor_connectors(path: Path) -> None:
    """They write down what contexts decide."""
    text = path.read_text("utf-8")
    assert CONNECTOR.findall(text) == []
    assert re.findall(rf"""["'](?:{SETTING.pattern})["']|\balloc\w*\(['"]|configuration\[""", text) == []


BYTES = "bytes that are read or kept at once"
NUMBERS_ALLOWED = {
    ("camkes/backends/host/compiler.py", 65536): BYTES,
    ("camkes/backends/host/run.py", 65536): BYTES,
    ("camkes/backends/sel4/build.py", 4096): "the heap of the timer driver",
    ("camkes/backends/sel4/image.py", 65536): "the heap of a C library",
    ("camkes/backends/sel4/workspace.py", 65536): BYTES,
    ("camkes/measuring/log.py", 65536): "the sum of a line, as measure.h has it",
    ("camkes/editor/convert.py", 65535): "the last character of one UTF-16 unit",
    ("camkes/exploration.py", 254): "no bound of preemptions, in a state of the exploration",
    ("camkes/running/events.py", 65535): "no thread, in a record",
    ("camkes/sandbox.py", 16384): "a flag of a system call",
    ("camkes/sandbox.py", 4096): "the kind of a pipe, in the mode of a file",
}


def test_widths_and_defaults_have_one_place() -> None:
    found = {(file.path, n) for file in sources() for n in file.numbers & NUMBERS}
    assert found - NUMBERS_ALLOWED.keys() == set()


PROTOCOL = re.compile("|".join(protocol.value for protocol in Protocol))


def protocols(nodes: Sequence[ast.AST]) -> list[str]:
    """Protocols that are named one by one: `Protocol.FIXED`, or `FIXED` if that is imported."""
    named = [node.attr for node in nodes if isinstance(node, ast.Attribute)]
    named += [node.id for node in nodes if isinstance(node, ast.Name)]
    return [name for name in named if name in Protocol.__members__]


def test_protocols_have_one_place() -> None:
    """What sets one apart is a property in the table, so that a new one is a row."""
    assert [file.path for file in sources() if file.protocols] == []
    assert places(PROTOCOL) == set()


def test_a_second_place_is_noticed() -> None:
    nodes = nodes_of(
        'def f(i):\n    """_budget"""\n    return g(f"{i}_budget"), "seL4Notification", 1 << 28, 255'
    )
    found = list(strings(nodes))
    assert [s for s in found if SETTING.fullmatch(s)] == ["_budget"]
    assert [s for s in found if CONNECTOR.search(s)] == ["seL4Notification"]
    assert protocols(nodes_of("a = b.protocol is Protocol.FIXED or c.protocol == INHERITED")) == [
        "FIXED",
        "INHERITED",
    ]
    assert limits.MAX_PRIORITY in numbers(nodes)
    assert limits.WORDS[32].badge + 1 in numbers(nodes)
