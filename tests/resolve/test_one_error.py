# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""One mistake is one error, at its place; no cut or changed text is more than a diagnostic."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from camkes.diagnostics import Diagnostic, Severity, Sink, SourceFile
from camkes.parser.lexer import tokenise
from camkes.parser.parse import ParseOptions, parse
from camkes.parser.positions import ParsedText
from camkes.parser.tables import load as load_tables
from camkes.protocols import analyse
from camkes.resolve import LoadOptions, load

pytestmark = pytest.mark.requirement("LANG-21")

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*/*.camkes"))
LIBRARY = sorted(file for file in (ROOT / "camkes" / "resolve" / "builtin").iterdir() if file.is_file())
TABLES = load_tables()
PLAIN = ParseOptions(preprocess=False)

SYSTEM = """\
import <std_connector.camkes>;
procedure P { void f(in int a); }
component T { control; requestor; uses P s; attribute int x = 3; }
component S {
    provides P s with priority_protocol inherited;
    attribute int y;
}
assembly {
    composition {
        component T a;
        component T b;
        component S z;
        connection seL4RPCCall c(from a.s, from b.s, to z.s);
    }
    configuration {
        a._priority = 10;
        b._priority = 20;
    }
}
"""


def errors(folder: Path, text: str) -> list[Diagnostic]:
    path, sink = folder / "system.camkes", Sink()
    path.write_text(text)
    system = load(path, LoadOptions(), sink)
    if system is not None:
        analyse(system, sink)
    return [d for d in sink.diagnostics if d.severity is Severity.ERROR]


def places(found: list[Diagnostic]) -> list[tuple[str, int]]:
    return [(d.message, d.span.line if d.span else 0) for d in found]


def edited(before: str, after: str) -> str:
    assert SYSTEM.count(before) == 1
    return SYSTEM.replace(before, after)


def token_bounds(text: str) -> list[tuple[int, int]]:
    tokens = tokenise(ParsedText.of(SourceFile(Path("a.camkes"), text)), TABLES, Sink())
    return [(a, b) for a, b in zip(tokens.starts, tokens.ends, strict=True) if a < b]


@pytest.mark.parametrize(
    ("text", "line", "after"),
    [
        (edited("a._priority = 10;\n", "a._priority = 10 b._period = 3 ms;\n"), 16, "the number `10`"),
        (edited("a._priority = 10;\n", "a._priority = 10\n"), 16, "the number `10`"),
        (edited("a._priority = 10;\n", "a._period = 10 ms b._period = 3 ms;\n"), 16, "`ms`"),
        (edited("component T a;\n", "component T a component T d;\n"), 10, "`a`"),
        (edited("to z.s);", "to z.s)"), 13, "`)`"),
        (edited("attribute int y;", "attribute int y"), 6, "`y`"),
        (
            edited("import <std_connector.camkes>;", "import <std_connector.camkes>"),
            1,
            "`<std_connector.camkes>`",
        ),
        (edited("control;", "control"), 3, "`control`"),
    ],
)
def test_a_missing_semicolon_is_at_the_end_of_its_statement(
    tmp_path: Path, text: str, line: int, after: str
) -> None:
    assert places(errors(tmp_path, text)) == [(f"expected `;` after {after}", line)]


@pytest.mark.parametrize("line", [7, 14, 18, 19])
def test_a_stray_brace_is_at_its_own_line(tmp_path: Path, line: int) -> None:
    lines = SYSTEM.splitlines()
    lines.insert(line, lines[line - 1])
    found = places(errors(tmp_path, "\n".join(lines)))
    assert found == [("this `}` has no matching `{`", line + (line in (19,)))] or found == [
        ("this `}` has no matching `{`", line + 1)
    ]


@pytest.mark.parametrize(("line", "opening"), [(7, 4), (14, 9), (18, 15)])
def test_a_missing_brace_is_at_the_one_that_is_open(tmp_path: Path, line: int, opening: int) -> None:
    lines = SYSTEM.splitlines()
    del lines[line - 1]
    assert places(errors(tmp_path, "\n".join(lines))) == [("this `{` is not closed", opening)]


def test_a_missing_import_is_one_error(tmp_path: Path) -> None:
    gone = edited("import <std_connector.camkes>;", 'import "gone.camkes";')
    assert places(errors(tmp_path, gone)) == [("there is no file `gone.camkes` to import", 1)]
    (found,) = errors(tmp_path, edited("import <std_connector.camkes>;\n", ""))
    assert found.help == "the standard connectors come with `import <std_connector.camkes>;`"


def test_uses_of_what_is_not_defined_are_one_error(tmp_path: Path) -> None:
    (found,) = errors(tmp_path, edited("component T {", "component {"))
    assert (found.message, found.span and found.span.line) == ("there is no component `T`", 10)
    assert [label.text for label in found.related] == ["this component has no name", "and here"]


def test_a_missing_requestor_is_one_error(tmp_path: Path) -> None:
    (found,) = errors(tmp_path, edited("requestor; ", ""))
    assert found.code.number == "E0510"


@pytest.mark.mostly_long("nested3")
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_a_token_left_out_or_doubled_is_one_error(tmp_path: Path, path: Path) -> None:
    text = path.read_text()
    known = {d.message for d in errors(tmp_path, text)}
    for number, (start, end) in enumerate(token_bounds(text)[::6]):
        word = text[start:end]
        changed = text[:start] + ("" if number % 2 else f"{word} {word}") + text[end:]
        found = [d.message for d in errors(tmp_path, changed) if d.message not in known]
        assert len(found) <= 1, (text[start - 20 : end], found)


@pytest.mark.mostly_long("nested3")
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_a_line_left_out_or_doubled_is_one_error(tmp_path: Path, path: Path) -> None:
    text = path.read_text()
    known = {d.message for d in errors(tmp_path, text)}
    lines = text.splitlines(keepends=True)
    for number, line in enumerate(lines):
        # a missing import is several definitions, and each task of a missing band lacks a priority
        if line.lstrip().startswith(("import", "connection seL4UserScheduler")):
            continue
        for times in (0, 2):
            changed = "".join([*lines[:number], *[line] * times, *lines[number + 1 :]])
            found = [d.message for d in errors(tmp_path, changed) if d.message not in known]
            assert len(found) <= 1, (number + 1, times, line, found)


def test_several_stray_braces_are_at_their_lines(tmp_path: Path) -> None:
    lines = SYSTEM.splitlines()
    lines.insert(18, "    }")
    lines.insert(7, "}")
    found = places(errors(tmp_path, "\n".join(lines)))
    assert found == [("this `}` has no matching `{`", 8), ("this `}` has no matching `{`", 20)]


@pytest.mark.parametrize(
    "text",
    [
        edited("attribute int x = 3;", "attribute string x = \u201cy\u201d;"),
        edited("component T a;", "compo\u200bnent T a;"),
        edited("component T {", "component T\u00a0{"),
        edited("from a.s", "from\u00a0a.s"),
    ],
)
def test_a_typographic_character_is_the_only_error(tmp_path: Path, text: str) -> None:
    assert {d.code.number for d in errors(tmp_path, text)} == {"E0120"}


def test_a_line_before_its_block_is_one_error(tmp_path: Path) -> None:
    text = edited("component T { control; requestor;", "control;\ncomponent T { requestor;")
    assert places(errors(tmp_path, text)) == [("`control` is not allowed outside of a block", 3)]


def test_a_missing_interface_is_one_error(tmp_path: Path) -> None:
    text = edited("priority_protocol inherited;", "priority_protocol inherited, requests (n);")
    text = text.replace("to z.s);", "to z.s);\n        connection seL4RPCCall d(from z.n, to z.s);")
    assert places(errors(tmp_path, text)) == [("there is no `uses` interface `n`", 5)]


@pytest.mark.parametrize(
    "step", [36, pytest.param(1, marks=pytest.mark.long)], ids=lambda step: f"every-{step}"
)
@pytest.mark.parametrize("path", [*EXAMPLES, *LIBRARY], ids=lambda path: path.stem)
def test_a_text_cut_anywhere(path: Path, step: int) -> None:
    """At each token, or at some of them; good or with errors, never neither."""
    text = path.read_text()
    for start, end in token_bounds(text)[::step]:
        for cut in (text[:start], text[:end], text[:end] + " ", text[:start] + text[end:]):
            sink = Sink()
            tree = parse(SourceFile(path, cut), sink, options=PLAIN)
            assert (tree is None) == sink.has_errors, cut[-40:]


@pytest.mark.parametrize(
    "text", ["component uses ", "component T {} component uses", "assembly { group Buf "]
)
def test_a_text_that_ends_within_a_block_that_was_never_opened(text: str) -> None:
    sink = Sink()
    assert parse(SourceFile(Path("a.camkes"), text), sink, options=PLAIN) is None
    assert sink.has_errors


@pytest.mark.long
def test_changed_texts(tmp_path: Path) -> None:
    """Words of the language and of the text at places of the text, as in an editor."""
    chance = random.Random(1)
    texts = [path.read_text() for path in EXAMPLES]
    for _ in range(200):
        text = chance.choice(texts)
        for _ in range(chance.randint(1, 3)):
            bounds = token_bounds(text)
            if not bounds:
                break
            (start, end), (first, last) = chance.choice(bounds), chance.choice(bounds)
            word = chance.choice([text[first:last], chance.choice(list(TABLES.words)), "", "}", "{"])
            text = text[:start] + f" {word} " + text[chance.choice([start, end]) :]
        errors(tmp_path, text)


@pytest.mark.parametrize("name", ["adder.c", "CMakeLists.txt", "system.cdl", "object.o", "NOTES.md"])
def test_another_kind_of_file_is_named(tmp_path: Path, name: str) -> None:
    path, sink = tmp_path / name, Sink()
    path.write_bytes(b"int x; \xff\0")
    assert load(path, LoadOptions(), sink) is None
    (found,) = sink.diagnostics
    assert found.code.number == "E0101" and found.message.endswith("not a .camkes file")


def test_the_help_for_a_member_of_a_group_is_what_works(tmp_path: Path) -> None:
    text = "component C { control; }\nassembly { composition { group g { component C c; } }\n"
    (found,) = errors(tmp_path, text + "configuration { g.c._priority = 1; } }")
    assert "write `c._priority`" in found.help
    assert errors(tmp_path, text + "configuration { c._priority = 1; } }") == []


@pytest.mark.parametrize(
    "text",
    [
        "component A { control; attribute it x; }\n"
        "assembly { composition { component A a; } configuration { a.x = 5; } }",
        "component A { control; attribute it x[]; }\n"
        "assembly { composition { component A a; } configuration { a.x = [5]; } }",
        "struct S { int a; it b; };\ncomponent A { control; attribute S s; }\n"
        'assembly { composition { component A a; } configuration { a.s = {"a": 1, "b": 2}; } }',
    ],
)
def test_the_value_of_an_attribute_without_a_type_is_not_reported(text: str, tmp_path: Path) -> None:
    path, sink = tmp_path / "a.camkes", Sink()
    path.write_text(text)
    load(path, LoadOptions(), sink)
    assert [d.code.number for d in sink.diagnostics] == ["E0405"]
    path.write_text(text.replace(" it", " int").replace("a.x", "a.wrong").replace('"b"', '"wrong"'))
    more = Sink()
    load(path, LoadOptions(), more)
    assert {"W0451", "W0453"} & {d.code.number for d in more.diagnostics}
