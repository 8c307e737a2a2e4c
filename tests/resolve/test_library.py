# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The trees of the library that are kept are those that the parser makes."""

from __future__ import annotations

import marshal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from camkes.diagnostics import Sink, SourceFile, Span
from camkes.model.dump import dump_text
from camkes.parser import ast
from camkes.parser.files import read_source
from camkes.parser.parse import ParseOptions, is_plain, parse
from camkes.resolve import LoadOptions, imports, library, load

ALL = sorted(p for p in library.BUILTIN.rglob("*") if p.suffix in (".camkes", ".idl4"))
FILES = [path for path in ALL if is_plain(SourceFile(path, path.read_text()), ParseOptions())]


PLAIN = """
import <std_connector.camkes>;
procedure P { void f(); }
component A { control; uses P p; }
component B { provides P p; }
assembly { composition {
    component A a;
    component B b;
    connection seL4RPCCall c(from a.p, to b.p);
} }
"""


@pytest.fixture(autouse=True)
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    path = tmp_path / "library.marshal"
    monkeypatch.setattr(library, "STORED", path)
    library._stored.cache_clear()
    yield path
    library._stored.cache_clear()


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that were parsed."""
    names: list[str] = []

    def spy(source: SourceFile, sink: Sink, *, options: ParseOptions | None = None) -> ast.File | None:
        names.append(source.path.name)
        return parse(source, sink, options=options)

    monkeypatch.setattr(imports, "parse", spy)
    return names


def read(path: Path) -> SourceFile:
    source = read_source(path, Sink())
    assert source is not None
    return source


def next_run(source: SourceFile, options: LoadOptions | None = None) -> list[ast.TopLevelItem]:
    """The items of a file, as a new process finds them."""
    library._stored.cache_clear()
    program = imports.Program(source)
    program.entries += imports._Reader(options or LoadOptions(), Sink()).parse(source, program)
    return program.items


def shown(value: Any) -> Any:
    """All of a tree, with every place."""
    if isinstance(value, Span):
        return tuple(value)
    if isinstance(value, ast.Name):
        return value.text, shown(value.span)
    if isinstance(value, tuple):
        return [shown(item) for item in value]
    if hasattr(value, "__match_args__"):
        return type(value), [shown(getattr(value, name)) for name in value.__match_args__]
    return type(value), value


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_kept_tree_is_the_tree(path: Path, parsed: list[str]) -> None:
    source = read(path)
    made, kept = next_run(source), next_run(source)
    assert made and list(map(shown, kept)) == list(map(shown, made))
    assert parsed == [path.name]


def test_no_tree_of_another_text_or_another_parser(stored: Path, parsed: list[str]) -> None:
    path = library.BUILTIN / "global-connectors.camkes"
    next_run(read(path))
    changed = SourceFile(path, "component Changed { control; }")
    assert [item.name.text for item in next_run(changed)] == ["Changed"]
    next_run(read(path))
    assert len(parsed) == 3
    key, trees = marshal.loads(stored.read_bytes())
    stored.write_bytes(marshal.dumps(([(time + 1, size) for time, size in key], trees)))
    next_run(read(path))
    assert len(parsed) == 4


@pytest.mark.parametrize("data", [b"", b"[", marshal.dumps([]), marshal.dumps((1, 2, 3)), marshal.dumps(5)])
def test_what_is_kept_may_be_anything(stored: Path, data: bytes, parsed: list[str]) -> None:
    stored.write_bytes(data)
    path = library.BUILTIN / "Timer.idl4"
    assert next_run(read(path)) and next_run(read(path))
    assert parsed == [path.name]
    assert list(stored.parent.iterdir()) == [stored]


def test_trees_that_cannot_be_kept(monkeypatch: pytest.MonkeyPatch, parsed: list[str]) -> None:
    monkeypatch.setattr(library, "STORED", Path("/nonexistent/library.marshal"))
    path = library.BUILTIN / "Timer.idl4"
    assert next_run(read(path)) and next_run(read(path))
    assert parsed == [path.name] * 2


def test_what_the_preprocessor_may_change_is_parsed(parsed: list[str]) -> None:
    path = library.BUILTIN / "Timer.idl4"
    next_run(read(path))
    items = next_run(read(path), LoadOptions(cpp_flags=("-DTimer=Clock",)))
    assert [item.name.text for item in items] == ["Clock"]
    assert len(parsed) == 2


def test_no_tree_that_only_counts_without_the_preprocessor(parsed: list[str]) -> None:
    """In the language itself, `#` begins a comment."""
    path = library.BUILTIN / "Timer.idl4"
    source = SourceFile(path, "#define Timer Clock\nprocedure Timer { void f(); }")
    for cpp, name in ((False, "Timer"), (True, "Clock"), (False, "Timer")):
        assert [item.name.text for item in next_run(source, LoadOptions(cpp=cpp))] == [name]


def test_a_definition_that_nobody_names_is_not_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """And those that somebody names are."""
    file = tmp_path / "a.camkes"
    file.write_text(PLAIN)
    load(file, LoadOptions(), Sink())
    library._stored.cache_clear()
    made: list[str] = []
    unpacked = library._unpacked

    def spy(packed: bytes, source: SourceFile) -> ast.TopLevelItem:
        item = unpacked(packed, source)
        made.append(type(item).__name__)
        return item

    monkeypatch.setattr(library, "_unpacked", spy)
    assert load(file, LoadOptions(), Sink()) is not None
    assert [name for name in made if name != "Import"] == ["Connector"]


@pytest.mark.parametrize(
    "path", sorted((Path(__file__).parents[2] / "examples").glob("*/*.camkes")), ids=lambda path: path.stem
)
def test_a_system_is_the_same_with_trees_that_were_kept(path: Path) -> None:
    answers = []
    for _ in range(2):
        library._stored.cache_clear()
        sink = Sink()
        system = load(path, LoadOptions(), sink)
        answers.append((system and dump_text(system, places=True), list(map(repr, sink.diagnostics))))
    assert answers[0] == answers[1]
