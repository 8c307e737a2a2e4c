# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Diagnostics as people see them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from camkes.diagnostics import Code, Diagnostic, Label, SourceFile, Span
from camkes.diagnostics.rendering import Form, Style, in_source_order, render, summary

pytestmark = pytest.mark.requirement("TOOL-3")

ERROR = Code("E0999", "made-up")
WARNING = Code("W0999", "made-up-too")


def at(file: SourceFile, line: int, column: int, length: int = 1) -> Span:
    return Span(file, line, column, line, column + length)


def excerpt(text: str, *labels: tuple[int, int, int, str], unicode: bool = False, color: bool = False) -> str:
    """The text of an error at the first (line, column, length, label), related to the others."""
    file = SourceFile(Path("a.camkes"), text)
    first, *rest = [Label(at(file, line, column, n), label) for line, column, n, label in labels]
    diagnostic = Diagnostic(ERROR, "wrong", first.span, first.text, tuple(rest))
    return render([diagnostic], Style(unicode=unicode, color=color))


def test_message_place_underline_notes_and_help() -> None:
    file = SourceFile(Path("dir/a.camkes"), "one\ntwo three\n")
    diagnostic = Diagnostic(
        ERROR, "wrong", at(file, 2, 5, 5), "here", notes=("because", "two\nlines"), help="do it"
    )
    assert render([diagnostic]) == (
        "error[E0999]: wrong\n"
        " --> dir/a.camkes:2:5\n"
        "  |\n"
        "2 | two three\n"
        "  |     ^^^^^ here\n"
        "  |\n"
        "  = note: because\n"
        "  = note: two\n"
        "          lines\n"
        "  = help: do it\n"
        "\n"
        "1 error\n"
    )


def test_no_diagnostics_give_no_text() -> None:
    assert render([]) == ""
    assert render([], Style(Form.ONELINE)) == ""


def test_a_diagnostic_without_a_place() -> None:
    assert render([Diagnostic(WARNING, "odd", notes=("why",))]) == (
        "warning[W0999]: odd\n  = note: why\n\n1 warning\n"
    )


def test_several_labels_of_one_line() -> None:
    assert excerpt("a bb ccc dd\n", (1, 3, 2, "first"), (1, 6, 3, "second"), (1, 10, 2, "third")) == (
        "error[E0999]: wrong\n"
        " --> a.camkes:1:3\n"
        "  |\n"
        "1 | a bb ccc dd\n"
        "  |   ^^ --- -- third\n"
        "  |   |  |\n"
        "  |   |  second\n"
        "  |   first\n"
        "\n"
        "1 error\n"
    )


def test_every_label_of_a_long_line_is_shown() -> None:
    line = "x" * 100 + "first" + "y" * 500 + "second" + "z" * 300 + "\n"
    source, marks = excerpt(line, (1, 606, 6, "the error"), (1, 101, 5, "why")).splitlines()[3:5]
    assert source == f"1 | ...{'x' * 40}first{'y' * 40}...{'y' * 40}second{'z' * 40}..."
    assert (source[marks.index("^") :][:6], source[marks.index("-") :][:5]) == ("second", "first")


def test_labels_that_overlap() -> None:
    assert excerpt("abcdef\n", (1, 3, 2, "in"), (1, 1, 6, "out")).splitlines()[4:8] == [
        "  | --^^--",
        "  | | |",
        "  | | in",
        "  | out",
    ]


def test_far_lines_are_left_out_and_one_between_is_shown() -> None:
    text = "".join(f"line{n}\n" for n in range(1, 20))
    rows = excerpt(text, (3, 1, 4, ""), (5, 1, 4, "five"), (12, 1, 4, "twelve")).splitlines()
    assert rows[2:-2] == [
        "   |",
        " 3 | line3",
        "   | ^^^^",
        " 4 | line4",
        " 5 | line5",
        "   | ---- five",
        "...",
        "12 | line12",
        "   | ---- twelve",
    ]


def test_a_span_of_several_lines() -> None:
    file = SourceFile(Path("a.camkes"), "component A {\n    uses P p;\n}\nx component B {\n}\n")
    first = Diagnostic(ERROR, "wrong", Span(file, 1, 1, 3, 2), "all this")
    assert render([first]).splitlines()[2:7] == [
        "  |",
        "1 | / component A {",
        "2 | |     uses P p;",
        "3 | | }",
        "  | |_^ all this",
    ]
    second = Diagnostic(ERROR, "wrong", Span(file, 4, 3, 5, 2), "this")
    assert render([second]).splitlines()[2:8] == [
        "  |",
        "4 |   x component B {",
        "  |  ___^",
        "5 | | }",
        "  | |_^ this",
        "",
    ]
    assert render([first], Style(unicode=True)).splitlines()[1:7] == [
        "  ┌─ a.camkes:1:1",
        "  │",
        "1 │ ╭ component A {",
        "2 │ │     uses P p;",
        "3 │ │ }",
        "  │ ╰─━ all this",
    ]


def test_spans_of_several_lines_that_overlap() -> None:
    file = SourceFile(Path("a.camkes"), "{\n{\n}\n}\n")
    diagnostic = Diagnostic(
        ERROR, "wrong", Span(file, 1, 1, 4, 2), "outer", (Label(Span(file, 2, 1, 3, 2), "inner"),)
    )
    assert render([diagnostic]).splitlines()[3:9] == [
        "1 | /   {",
        "2 | | / {",
        "3 | | | }",
        "  | | |_- inner",
        "4 | |   }",
        "  | |___^ outer",
    ]


def test_places_in_other_files_and_their_includes() -> None:
    root = SourceFile(Path("root.camkes"), 'import "middle.camkes";\n')
    middle = SourceFile(Path("middle.camkes"), '\nimport "leaf.camkes";\n', at(root, 1, 1, 23))
    leaf = SourceFile(Path("leaf.camkes"), "leaf\n", at(middle, 2, 1, 21))
    diagnostic = Diagnostic(ERROR, "wrong", at(leaf, 1, 1, 4), "this", (Label(at(root, 1, 8, 15), "that"),))
    assert render([diagnostic]) == (
        "error[E0999]: wrong\n"
        " --> leaf.camkes:1:1\n"
        "  | imported from middle.camkes:2:1\n"
        "  | imported from root.camkes:1:1\n"
        "  |\n"
        "1 | leaf\n"
        "  | ^^^^ this\n"
        " ::: root.camkes:1:8\n"
        "  |\n"
        '1 | import "middle.camkes";\n'
        "  |        --------------- that\n"
        "\n"
        "1 error\n"
    )


def test_tabs_and_wide_characters_keep_the_underline_right() -> None:
    assert excerpt("\tx\ty;\n", (1, 4, 1, "here")).splitlines()[3:5] == [
        "1 |     x   y;",
        "  |         ^ here",
    ]
    assert excerpt('s = "日本" + x;\n', (1, 12, 1, "x")).splitlines()[3:5] == [
        '1 | s = "日本" + x;',
        "  |              ^ x",
    ]
    assert excerpt("日本\n", (1, 2, 1, "wide")).splitlines()[4] == "  |   ^^ wide"
    assert excerpt("e\u0301 x\n", (1, 4, 1, "x")).splitlines()[4] == "  |   ^ x"
    assert excerpt("\x1b[31m x\n", (1, 7, 1, "x")).splitlines()[3] == r"1 | \x1b[31m x"


def test_windows_line_ends() -> None:
    assert "\r" not in excerpt("one\r\ntwo\r\n", (1, 1, 5, ""))


def test_colour_does_not_change_the_text() -> None:
    labels = ((1, 3, 2, "first"), (1, 6, 3, "second"), (3, 1, 1, "third"))
    for unicode in (False, True):
        plain = excerpt("a bb ccc dd\n\nx\n", *labels, unicode=unicode)
        painted = excerpt("a bb ccc dd\n\nx\n", *labels, unicode=unicode, color=True)
        assert painted != plain
        assert re.sub(r"\033\[[0-9;]*m", "", painted) == plain
        assert "\033" not in plain


def test_ascii_drawing_is_ascii() -> None:
    assert excerpt("a b\n", (1, 1, 1, "x"), (1, 3, 1, "y")).isascii()
    assert "─" in excerpt("a b\n", (1, 1, 1, "x"), (1, 3, 1, "y"), unicode=True)


def test_one_line_for_editors() -> None:
    file = SourceFile(Path("a.camkes"), "one\ntwo\n")
    diagnostics = [
        Diagnostic(WARNING, "odd", at(file, 2, 1)),
        Diagnostic(ERROR, "wrong", at(file, 1, 2), "", (Label(at(file, 2, 3), "see"),)),
        Diagnostic(ERROR, "nowhere"),
    ]
    assert render(diagnostics, Style(Form.ONELINE)).splitlines() == [
        "error[E0999]: nowhere",
        "a.camkes:1:2: error[E0999]: wrong",
        "a.camkes:2:3: note: see",
        "a.camkes:2:1: warning[W0999]: odd",
    ]


def test_summary() -> None:
    error, warning = Diagnostic(ERROR, "x"), Diagnostic(WARNING, "y")
    assert summary([error, error, warning]) == "2 errors, 1 warning"
    assert summary([error]) == "1 error"
    assert summary([warning, warning]) == "2 warnings"
    assert summary([]) == ""


def test_source_order_follows_imports() -> None:
    root = SourceFile(Path("root"), "i1\ni2\nx\n")
    second = SourceFile(Path("a"), "x\nx\n", at(root, 2, 1))
    first = SourceFile(Path("b"), "i\nx\n", at(root, 1, 1))
    nested = SourceFile(Path("c"), "x\n", at(first, 1, 1))
    places = [at(first, 1, 1), at(nested, 1, 1), at(first, 2, 1), at(second, 1, 1), at(second, 2, 1)]
    places += [at(root, 3, 1), at(root, 3, 2)]
    given_ = [Diagnostic(ERROR, str(i), place) for i, place in enumerate(places)]
    assert in_source_order(reversed(given_)) == given_


def test_paths_are_relative_to_the_base() -> None:
    file = SourceFile(Path("/x/y/a.camkes"), "one\n")
    diagnostic = Diagnostic(ERROR, "wrong", at(file, 1, 1))
    assert "--> y/a.camkes:1:1" in render([diagnostic], Style(base=Path("/x")))
    assert "--> /x/y/a.camkes:1:1" in render([diagnostic], Style(base=Path("/xx")))


texts = st.text(st.sampled_from("ab \t\n\r日\u0301"), max_size=60)
numbers = st.integers(-1, 12)


@given(
    texts, st.lists(st.tuples(numbers, numbers, numbers, numbers, st.sampled_from(["", "label"])), min_size=1)
)
def test_any_place_can_be_drawn(text: str, places: list[tuple[int, int, int, int, str]]) -> None:
    """Whatever a span says, even of a file that has changed since, each label appears once."""
    file = SourceFile(Path("a"), text)
    labels = [Label(Span(file, a, b, c, d), label) for a, b, c, d, label in places]
    diagnostic = Diagnostic(ERROR, "wrong", labels[0].span, labels[0].text, tuple(labels[1:]))
    for unicode in (False, True):
        rendered = render([diagnostic], Style(unicode=unicode))
        assert rendered.count("label") == sum(label.text == "label" for label in labels)
        assert all(line == line.rstrip() for line in rendered.split("\n"))
