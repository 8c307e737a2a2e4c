# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The C preprocessor: what comes out, and that every place is that of the user's text."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from camkes.diagnostics import Sink, SourceFile
from camkes.parser import ast
from camkes.parser.parse import needs_preprocessor, parse
from camkes.parser.preprocess import command
from camkes.parser.preprocess.complaints import complaints
from tests.parser.preprocessing import load, names, tree
from tests.parser.support import listing, place, shape, written
from tests.written import write_named

pytestmark = pytest.mark.requirement("LANG-5")


def test_places_after_macros_are_exact(folder: Path) -> None:
    path = write_named(
        folder,
        a_camkes="""\
#define NUMBER 12345
#define TWICE(x) x + x
component A {   attribute int a = NUMBER;  has mutex m;
    attribute int b = TWICE(
        NUMBER ) ; has mutex n; /* a
    comment */ has mutex o; // NUMBER
}
""",
    )
    file = tree(path)
    assert names(file) == {
        "A": "a.camkes:3:11-3:12 A",
        "a": "a.camkes:3:31-3:32 a",
        "m": "a.camkes:3:54-3:55 m",
        "b": "a.camkes:4:19-4:20 b",
        "n": "a.camkes:5:30-5:31 n",
        "o": "a.camkes:6:26-6:27 o",
    }
    (component,) = file.items
    a, b = (item for item in component.items if isinstance(item, ast.AttributeDecl))  # type: ignore[union-attr]
    assert a.default is not None
    assert b.default is not None
    assert (shape(a.default), place(a.default.span)) == (("Literal", 12345), "3:35-3:41")
    assert shape(b.default) == ("Binary", "+", ("Literal", 12345), ("Literal", 12345))
    assert place(b.default.span) == "4:23-5:17"
    assert written(b.default.left.span) == "TWICE(\n        NUMBER )"  # type: ignore[union-attr]


def test_a_macro_that_makes_several_items_gives_them_its_place(folder: Path) -> None:
    path = write_named(
        folder,
        a_camkes="""\
#define PORT(name) uses P name; \\
    provides P name##_back;
component A { PORT(left) PORT(right) control; }
""",
    )
    assert names(tree(path)) == {
        "A": "a.camkes:3:11-3:12 A",
        "left": "a.camkes:3:15-3:25 PORT(left)",
        "left_back": "a.camkes:3:15-3:25 PORT(left)",
        "right": "a.camkes:3:26-3:37 PORT(right)",
        "right_back": "a.camkes:3:26-3:37 PORT(right)",
    }


def test_places_in_included_files_are_theirs(folder: Path) -> None:
    path = write_named(
        folder,
        a_camkes='#include "b.h"\n  #  include <c.h>\ncomponent A { control; }\n#include "b.h"\n',
        b_h='#ifndef H\n#define H X\n#include "d.h"\n component B { has mutex b; }\n#endif\n',
        c_h="/* a */ component C { } component H { }\n",
        d_h="component D {}\n",
    )
    file = tree(path, "-I.")
    assert names(file) == {
        "D": "d.h:1:11-1:12 D",
        "X": "c.h:1:35-1:36 H",
        "B": "b.h:4:12-4:13 B",
        "b": "b.h:4:26-4:27 b",
        "C": "c.h:1:19-1:20 C",
        "A": "a.camkes:3:11-3:12 A",
    }
    included = {each.path.name: each for each in file.read}
    assert file.read[0] is file.source
    assert {"a.camkes", "b.h", "c.h", "d.h"} <= set(included)
    assert included["d.h"].included_from is not None
    assert included["d.h"].included_from.file is included["b.h"]
    assert place(included["c.h"].included_from) == "2:3-2:19"


def test_the_same_file_twice_with_other_macros(folder: Path) -> None:
    path = write_named(
        folder,
        a_camkes='#define N one\n#include "x.h"\n#undef N\n#define N two\n#include "x.h"\n',
        x_h="component N { has mutex N ## x; }\n".replace(" ## x", ""),
    )
    assert [shape(item)[1] for item in tree(path).items] == ["one", "two"]


def test_conditionals_choose(folder: Path) -> None:
    path = write_named(
        folder,
        a_camkes="""\
component A {
#ifdef BIG
    has mutex big;
#elif 1 + 1 == 2
    has mutex
# if 0
    not at all ' "
# endif
    small;
#else
    has mutex other;
#endif
}
""",
    )
    assert names(tree(path)) == {"A": "a.camkes:1:11-1:12 A", "small": "a.camkes:9:5-9:10 small"}
    assert names(tree(path, "-DBIG")) == {"A": "a.camkes:1:11-1:12 A", "big": "a.camkes:3:15-3:18 big"}


def test_macros_from_the_command_line(folder: Path) -> None:
    path = write_named(folder, a_camkes="component A { attribute int a = SIZE; has mutex SIZES; }")
    assert shape(tree(path, "-DSIZE=7").items[0])[2][0][-1] == ("Literal", 7)
    assert shape(tree(path, "-D", "SIZE=8").items[0])[2][0][-1] == ("Literal", 8)


def test_macros_that_make_macros(folder: Path) -> None:
    path = write_named(
        folder,
        a_camkes="""\
#define CALL F
#define F(x) has mutex x;
#define EMPTY
#define STRING(x) #x
#define COMPONENT component A {
COMPONENT
    CALL (a) EMPTY F(b) EMPTY
    has mutex F;
    attribute string s = STRING(a b // c
    );
}
""",
    )
    (component,) = tree(path).items
    assert [shape(item)[2] for item in component.items[:3]] == ["a", "b", "F"]  # type: ignore[union-attr]
    assert shape(component.items[3])[-1][0] == "Literal"  # type: ignore[union-attr]


def test_predefined_macros_are_replaced(folder: Path) -> None:
    path = write_named(
        folder,
        a_camkes="component A {\n attribute int a = linux + __LINE__; attribute string f = __FILE__; }",
    )
    (component,) = tree(path).items
    a, f = component.items  # type: ignore[union-attr]
    assert shape(a)[-1] == ("Binary", "+", ("Literal", 1), ("Literal", 2))
    assert shape(f)[-1] == ("Literal", str(path))
    assert place(a.default.left.span) == "2:20-2:25"  # type: ignore[union-attr]


def test_macros_in_strings_and_comments_are_text(folder: Path) -> None:
    path = write_named(
        folder,
        a_camkes='#define A B\ncomponent X { /* A "*/ attribute string s = "A // A /* A"; } // don\'t A\n',
    )
    assert shape(tree(path).items[0])[2][0][-1] == ("Literal", "A // A /* A")


def test_directives_do_not_reach_the_parser(folder: Path) -> None:
    path = write_named(
        folder,
        a_camkes='#pragma once upon a time\ncomponent A {\n#line 77 "zz.h"\n has mutex m; }\n#warning hm\n',
    )
    assert names(tree(path))["m"] == "a.camkes:4:12-4:13 m"


def test_tabs_and_wide_characters_count_as_one_column(folder: Path) -> None:
    path = write_named(
        folder, a_camkes='#define N 1\ncomponent A { attribute string s = "äöü€𝄞";\t has mutex m; }\n'
    )
    assert names(tree(path))["m"] == "a.camkes:2:56-2:57 m"


def test_lines_may_end_in_any_way(folder: Path) -> None:
    path = folder / "a.camkes"
    path.write_bytes(b"\xef\xbb\xbf#define N m\r\ncomponent A {\r\n has mutex N; }\r\n")
    assert names(tree(path)) == {"A": "a.camkes:2:11-2:12 A", "m": "a.camkes:3:12-3:13 N"}


def test_a_text_that_is_not_saved(folder: Path) -> None:
    path = write_named(folder, a_camkes="garbage", b_h="component B {}\n")
    source = SourceFile(path, '#include "b.h"\n#define N m\ncomponent A { has mutex N; }\n')
    sink = Sink()
    file = parse(source, sink)
    assert file is not None, listing(sink)
    assert names(file) == {
        "B": "b.h:1:11-1:12 B",
        "A": "a.camkes:3:11-3:12 A",
        "m": "a.camkes:3:25-3:26 N",
    }


def test_syntax_errors_in_macros_and_headers_have_places(folder: Path) -> None:
    path = write_named(
        folder,
        a_camkes='#define BAD contrl;\n#include "b.h"\ncomponent A {\n  BAD\n  usess P p; }\n',
        b_h="component B { provids P p; }\n",
    )
    result, sink = load(path)
    assert result is None
    found = [
        (each.span.file.path.name, place(each.span), each.message) for each in sink.diagnostics if each.span
    ]
    assert found == [
        ("b.h", "1:15-1:22", "`provids` is not allowed in a component"),
        ("a.camkes", "4:3-4:6", "`contrl` is not allowed in a component"),
        ("a.camkes", "5:3-5:8", "`usess` is not allowed in a component"),
    ]


@pytest.mark.parametrize(
    ("text", "where", "message"),
    [
        ('component A {}\n  #include "nowhere.h"\n', "2:12-2:23", "nowhere.h: No such file or directory"),
        ("#if 1\ncomponent A {}\n", "1:1-1:2", "unterminated #if"),
        ("\n#endif\n", "2:2-2:7", "#endif without #if"),
        ("#error stop here\n", "1:2-1:7", "#error stop here"),
        ("#define F(x) x\nF(\n", "2:3-2:4", 'unterminated argument list invoking macro "F"'),
    ],
)
def test_errors_of_the_preprocessor_are_diagnostics(
    folder: Path, text: str, where: str, message: str
) -> None:
    result, sink = load(write_named(folder, a_camkes=text))
    assert result is None
    (diagnostic,) = sink.diagnostics
    assert diagnostic.code.number == "E0111"
    assert place(diagnostic.span) == where
    assert re.sub("['\"]", "", diagnostic.message) == re.sub("['\"]", "", message)  # GCC 16 has others


@pytest.mark.parametrize("quote", ["", "'"])
def test_two_directives_without_a_conditional_are_one_error(quote: str) -> None:
    """GCC 16 quotes them."""
    of_if = f"without {quote}#if{quote}"
    stderr = f"a:2:2: error: {quote}#else{quote} {of_if}\na:3:2: error: {quote}#endif{quote} {of_if}\n"
    (found,) = complaints(stderr, lambda *_: None)
    assert found.message == f"a:2: {quote}#else{quote} {of_if}"


def test_an_error_in_a_header_is_shown_there(folder: Path) -> None:
    result, sink = load(write_named(folder, a_camkes='#include "b.h"\n', b_h="\n#error no\n"))
    assert result is None
    (diagnostic,) = sink.diagnostics
    assert diagnostic.span is not None
    assert (diagnostic.span.file.path.name, place(diagnostic.span)) == ("b.h", "2:2-2:7")


def test_no_preprocessor_is_a_diagnostic(folder: Path) -> None:
    result, sink = load(write_named(folder, a_camkes="\n#define A\n"), cpp="no-such-command")
    assert result is None
    assert listing(sink).splitlines()[0] == (
        "E0110 2:1-2:10 cannot run the C preprocessor `no-such-command`: No such file or directory"
    )


def test_a_preprocessor_that_fails_is_a_diagnostic(folder: Path) -> None:
    result, sink = load(write_named(folder, a_camkes="\n#define A\n"), cpp="false")
    assert result is None
    assert [each.code.number for each in sink.diagnostics] == ["E0111"]


def script(folder: Path, text: str) -> str:
    """A preprocessor of our own."""
    path = folder / "tool"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_a_preprocessor_that_fails_at_the_second_time(folder: Path) -> None:
    tool = script(
        folder, 'case "$*" in *-P*) echo "a.camkes:1: error: no more" >&2; exit 1;; esac; exec cpp "$@"'
    )
    result, sink = load(write_named(folder, a_camkes="#define A\n"), cpp=tool)
    assert result is None
    assert [(each.code.number, each.message) for each in sink.diagnostics] == [("E0111", "no more")]


def test_the_preprocessor_runs_in_english(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its errors are read."""
    tool = script(folder, '[ "$LC_ALL" = C ] || exit 1; exec cpp "$@"')
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    result, _ = load(write_named(folder, a_camkes="#define A\n"), cpp=tool)
    assert result is not None


def test_the_place_of_a_header_that_is_not_there(folder: Path) -> None:
    for header in ("<sys/nothing.h>", '"nothing.h"'):
        _, sink = load(write_named(folder, a_camkes=f"\n#include {header} // here\n"))
        (missing,) = sink.diagnostics
        assert missing.span is not None
        assert (missing.span.column, missing.span.end_column) == (10, 10 + len(header))


def test_an_error_at_a_line_that_is_not_there(folder: Path) -> None:
    tool = script(folder, 'echo "a.camkes:99:1: error: boo" >&2; exit 1')
    _, sink = load(write_named(folder, a_camkes="#define A\n"), cpp=tool)
    assert [(each.message, each.span) for each in sink.diagnostics] == [("a.camkes:99: boo", None)]


def test_a_preprocessor_that_never_ends(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "TIMEOUT", 2)
    _, sink = load(write_named(folder, a_camkes="#define A\n"), cpp=script(folder, "sleep 1000"))
    assert "did not finish within 2 seconds" in sink.diagnostics[0].message


def test_a_compiler_takes_the_place_of_the_preprocessor(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    found = command.shutil.which
    monkeypatch.setattr(command.shutil, "which", lambda name, **how: None if name == "cpp" else found(name))
    result = tree(write_named(folder, a_camkes="#define NAME A\ncomponent NAME { }\n"))
    assert names(result) == {"A": "a.camkes:2:11-2:15 NAME"}
    monkeypatch.setattr(command.shutil, "which", lambda name, **how: None)
    assert command._preprocessor("cpp") == ["cpp"]


def test_a_header_that_is_not_text(folder: Path) -> None:
    path = write_named(folder, a_camkes='#include "b.h"\ncomponent A { }\n')
    (folder / "b.h").write_bytes(b"// caf\xe9\n")
    assert load(path)[0] is not None  # a header in another encoding is accepted
    (folder / "b.h").write_bytes(b"// \0\n")
    result, sink = load(path)
    assert result is None
    assert [each.code.number for each in sink.diagnostics] == ["E0102"]


def test_line_directives(folder: Path) -> None:
    path = write_named(folder, a_camkes='#define NAME A\n#line 70 "other.camkes"\ncomponent NAME { }\n')
    assert names(tree(path)) == {"A": "a.camkes:3:11-3:15 NAME"}


def test_a_macro_of_several_places(folder: Path) -> None:
    """What begins in one file and ends in another has the place where it begins."""
    path = write_named(folder, a_camkes='component A {\n#include "b.h"\n', b_h="control; }\n")
    component = tree(path).items[0]
    assert component.span.file.path.name == "a.camkes"


def test_a_file_that_needs_none_starts_none(folder: Path) -> None:
    path = write_named(folder, a_camkes="component A { provides P p_priority; }")
    tree(path, "-DCAMKES_TOOL_PROCESSING", "-Ifoo", cpp="no-such-command")
    write_named(folder, a_camkes="component A { } // #define\n")
    tree(path, cpp="no-such-command", preprocess=False)


@pytest.mark.parametrize(
    ("text", "flags", "needed"),
    [
        ("component A {}", [], False),
        ("component A {}", ["-I.", "-DB", "-D", "C=A", "-iquotex"], False),
        ("component A {}", ["-DA=B"], True),
        ("component A {}", ["-D", "A(x)=B"], True),
        ("component A {}", ["-include", "x.h"], True),
        ("component A {}", ["-imacros", "x.h"], True),
        ("component linux {}", [], True),
        ("component _A {}", [], True),
        ("a._priority = 3", [], False),
        ("#", [], True),
    ],
)
def test_texts_that_need_the_preprocessor(text: str, flags: list[str], needed: bool) -> None:
    assert needs_preprocessor(text, flags) is needed


def test_all_predefined_macros_are_known() -> None:
    listed = subprocess.run(["cpp", "-dM", "/dev/null"], capture_output=True, text=True, check=True).stdout
    for line in listed.splitlines():
        name = line.split()[1].split("(")[0]
        assert needs_preprocessor(f"component {name} {{}}", []), name


def test_without_the_preprocessor_directives_are_comments(folder: Path) -> None:
    path = write_named(folder, a_camkes="#define A B\ncomponent A {}\n")
    assert names(tree(path, preprocess=False)) == {"A": "a.camkes:2:11-2:12 A"}
