# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""No text makes the parser fall over: random, mutated, deep, long, broken."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from camkes.diagnostics import Sink, SourceFile
from camkes.parser import ast
from camkes.parser.files import MAX_SIZE, read_meaning, read_source
from camkes.parser.parse import ParseOptions, parse
from camkes.parser.tables import load
from tests.examples import examples
from tests.parser.support import listing, nodes, read, value, written

pytestmark = pytest.mark.requirement("LANG-3")

GOOD = (Path(__file__).parent / "good.camkes").read_text()
TABLES = load()
PIECES = [
    *TABLES.words,
    *TABLES.contextual,
    *TABLES.symbols,
    *("a", "b", "1", "010", "0x1", "2.5", '"s"', '"', "<a.h>", "//", "/*", "*/", "\n", "\\", "#", "'", "é"),
]
PLAIN = ParseOptions(preprocess=False)


def check(text: str) -> None:
    """Whatever the text is: a tree or errors, and every error at a place that exists."""
    tree, sink = read(text, PLAIN)
    assert (tree is None) == sink.has_errors
    for diagnostic in sink.diagnostics:
        for span in (diagnostic.span, *(related.span for related in diagnostic.related)):
            assert span is not None
            assert 1 <= span.line <= span.end_line <= len(span.file.lines)
            assert 1 <= span.column <= len(span.file.lines[span.line - 1]) + 1
            assert span.end_column <= len(span.file.lines[span.end_line - 1]) + 1
            assert (span.line, span.column) <= (span.end_line, span.end_column)


@pytest.mark.parametrize(
    "text",
    ["t}procedure :s", "component C :", "assembly : composition", "}struct :s{", "procedure :", "group :"],
)
def test_a_brace_that_is_another_sign(text: str) -> None:
    check(text)


@settings(deadline=None)
@given(st.text(max_size=200))
def test_random_text(text: str) -> None:
    check(text)


@examples(300)
@given(st.lists(st.sampled_from(PIECES), max_size=60))
def test_random_tokens(pieces: list[str]) -> None:
    check(" ".join(pieces))


@examples(300)
@given(st.data())
def test_a_changed_file(data: st.DataObject) -> None:
    text = GOOD
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = start + data.draw(st.integers(0, 12))
        text = text[:start] + data.draw(st.sampled_from(["", *PIECES])) + text[end:]
    check(text)


@pytest.mark.parametrize("word", ["component A { control; }", 'configuration { a.b = "x"; }'])
def test_every_beginning_of_a_file(word: str) -> None:
    for end in range(len(word)):
        check(word[:end])


numbers = (
    st.integers(0, 10**6).map(str)
    | st.integers(0, 10**6).map(hex)
    | st.sampled_from(["True", "false", "1.5"])
)
operators = st.sampled_from(
    [
        *("||", "&&", "|", "^", "&", "==", "!=", "<", "<=", ">", ">="),
        *("<<", ">>", "+", "-", "*", "/", "%", "**"),
    ]
)
expressions = st.recursive(
    numbers,
    lambda inner: st.one_of(
        st.tuples(inner, operators, inner).map(" ".join),
        st.tuples(st.sampled_from("-+!~"), inner).map("".join),
        inner.map(lambda text: f"({text})"),
        st.tuples(inner, inner, inner).map(lambda each: f"({each[0]} ? {each[1]} : {each[2]})"),
    ),
    max_leaves=20,
)


def full(node: ast.ValueNode) -> str:
    """A value with parentheses around everything."""
    match node:
        case ast.Literal():
            return str(node.value)
        case ast.Unary():
            return f"({node.op}{full(node.operand)})"
        case ast.Binary():
            return f"({full(node.left)} {node.op} {full(node.right)})"
        case ast.Conditional():
            return f"({full(node.condition)} ? {full(node.then)} : {full(node.otherwise)})"
    raise AssertionError(node)


@settings(deadline=None)
@given(expressions)
def test_a_tree_written_with_all_parentheses_is_read_the_same(text: str) -> None:
    once = full(value(text))
    assert full(value(once)) == once


@settings(deadline=None)
@given(expressions)
def test_spans_of_values_are_their_text(text: str) -> None:
    node = value(text)
    for part in nodes(node):
        assert full(value(written(part.span))) == full(part)


@pytest.mark.parametrize(
    ("opening", "closing", "deep"),
    [("(", ")", False), ("[", "]", True), ('{"a": ', "}", True), ("-", "", True), ("1 + (", ")", True)],
)
def test_nesting_has_a_limit_and_no_traceback(opening: str, closing: str, deep: bool) -> None:
    text = f"configuration {{ a.b = {opening * 20000}1{closing * 20000}; }}"
    tree, sink = read(text)
    assert [each.code.number for each in sink.diagnostics] == (["E0134"] if deep else [])
    assert (tree is None) is deep


def test_a_chain_of_operators_is_not_deep() -> None:
    assert isinstance(value(" + ".join(["1"] * 20000)), ast.Binary)
    _, sink = read(f"configuration {{ a.b = 1 {'+ (1 ' * 300}{')' * 300}; }}")
    assert [each.code.number for each in sink.diagnostics] == ["E0134"]


def test_nested_blocks_have_a_limit() -> None:
    _, sink = read("composition { component { " * 3000 + "} x; }" * 3000)
    assert [each.code.number for each in sink.diagnostics] == ["E0134"]
    _, sink = read("struct s { " + "{ " * 3000 + "} x; " * 3000 + "}")
    assert [each.code.number for each in sink.diagnostics] == ["E0134"]
    check("composition { component { " * 3000)


def test_numbers_of_any_length() -> None:
    for text in ("9" * 100_000, "0x" + "f" * 100_000):
        _, sink = read(f"configuration {{ a.b = {text}; }}")
        assert [each.code.number for each in sink.diagnostics] == ["E0124"]


def test_a_long_configuration() -> None:
    text = "".join(f"    t{i}.priority = {i}; // the {i}th\n" for i in range(10000))
    tree, _ = read(f"configuration {{\n{text}}}\n")
    assert tree is not None


def test_a_long_list() -> None:
    node = value(f"[{', '.join(map(str, range(4000)))}]")
    assert len(node.items) == 4000


def test_many_errors() -> None:
    check("+ - ; } ) " * 20000)
    check("component A { x " * 5000)


# Files --------------------------------------------------------------------------------------------


def reading(path: Path) -> str:
    sink = Sink()
    assert read_source(path, sink) is None
    return listing(sink)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    assert reading(tmp_path) == f"E0101 nowhere `{tmp_path}` is a directory\n"
    missing = tmp_path / "none.camkes"
    assert reading(missing) == f"E0101 nowhere cannot read `{missing}`: No such file or directory\n"
    assert "not a regular file" in reading(Path("/dev/null"))
    assert "E0101" in reading(Path("a\0b"))
    assert "File name too long" in reading(tmp_path / ("x" * 1000))


def test_files_that_are_not_text(tmp_path: Path) -> None:
    path = tmp_path / "a.camkes"
    path.write_bytes(b"component A {\n  \xc3\xa9\xff; }")
    assert reading(path).splitlines()[0] == (
        f"E0102 2:4-2:5 `{path}` is not a text file: it contains the byte 0xFF, which is not UTF-8"
    )
    path.write_bytes(b"\xef\xbb\xbfcomponent\r\nA\0\xff")
    assert (
        reading(path).splitlines()[0] == f"E0102 2:2-2:3 `{path}` is not a text file: it contains a NUL byte"
    )


def test_comments_can_hold_any_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a.camkes"
    path.write_bytes(b'// "\xe9\n/* \xe9 \0 */ component A { include "// good"; control; }')
    sink = Sink()
    source = read_meaning(path, sink)
    assert source is not None and parse(source, sink) is not None
    assert not sink.diagnostics
    assert reading(path).startswith("E0102 1:5")  # who writes the file back needs every byte
    path.write_bytes(b'// \xe9\ncomponent A { include "// \xe9"; }')
    assert read_meaning(path, sink) is None
    assert listing(sink).startswith("E0102 2:27")


def test_a_file_that_is_too_large(tmp_path: Path) -> None:
    path = tmp_path / "a.camkes"
    with path.open("wb") as stream:
        stream.truncate(MAX_SIZE + 1)
    assert reading(path).startswith("E0103")


def test_a_missing_file_is_reported_at_its_import(tmp_path: Path) -> None:
    tree, _ = read('import "none.camkes";')
    assert tree is not None
    span = tree.items[0].span
    sink = Sink()
    read_source(tmp_path / "none.camkes", sink, span)
    assert sink.diagnostics[0].span is span


def test_line_ends_and_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "a.camkes"
    path.write_bytes(b"\xef\xbb\xbfcomponent A {\r\n    control;\r}\n")
    sink = Sink()
    source = read_source(path, sink)
    assert source is not None
    assert source.text == "component A {\n    control;\n}\n"
    assert parse(source, sink) is not None


def test_other_signs_than_letters() -> None:
    check("component Ä { }")
    check("\u2028\u00a0component A { }")
    check("\x0c\x0bcomponent A { }")
    assert parse(SourceFile(Path("x"), "component naïve { }"), Sink()) is not None
