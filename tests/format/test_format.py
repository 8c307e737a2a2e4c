# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The layout of .camkes files: what it looks like, and what it leaves alone."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from camkes.diagnostics import Sink, SourceFile
from camkes.format import format_file, format_source
from camkes.parser.files import read_source
from camkes.parser.lexer import tokenise
from camkes.parser.parse import ParseOptions, parse
from camkes.parser.positions import ParsedText
from camkes.parser.tables import load
from tests.examples import examples
from tests.parser.support import shape

pytestmark = pytest.mark.requirement("LANG-25")

GOOD = (Path(__file__).parents[1] / "parser" / "good.camkes").read_text()
TABLES = load()
PLAIN = ParseOptions(preprocess=False)
CORPUS = os.environ.get("CAMKES_CORPUS", "")


def words(text: str) -> list[str]:
    """The tokens of a text."""
    tokens = tokenise(ParsedText.of(SourceFile(Path("x"), text)), TABLES, Sink())
    return [tokens.word(number) for number in range(len(tokens.kinds))]


def remarks(text: str) -> list[str]:
    """The comments and preprocessor lines of a text, white space folded."""
    found = re.findall(r'"[^"]*"|//[^\n]*|/\*[\s\S]*?\*/|#(?:\\\n|[^\n])*', text)
    return [" ".join(each.split()) for each in found if not each.startswith('"')]


def tree(text: str) -> object:
    file = parse(SourceFile(Path("x"), text), Sink(), options=PLAIN)
    return shape(file.items) if file is not None else None


def check(text: str) -> str:
    formatted = format_source(text)
    assert words(formatted) == words(text)
    assert remarks(formatted) == remarks(text)
    assert tree(formatted) == tree(text)
    assert format_source(formatted) == formatted
    assert not re.search(r"[ \t]\n", re.sub(r'"[^"]*"|/\*[\s\S]*?\*/', "x", formatted))
    return formatted


UNTIDY = """\


import   <std_connector.camkes> ;

/*  A block
 *   comment
 */
procedure Pow
{
  int pow( in int base,in  int exponent ) ;
\t  void g(int a[],refin b_t c);}
component Task { control; requestor;
   uses Pow p;    // one
   uses Pow longer; // two
   emits E e;       // three


   single_threaded_component()
   MACRO
   attribute {int a;string b;} c={"a":1,"b":[1,-2, 3-4,-(5),!6 ? 1:2]};
#ifdef X
     provides P p with requests(a,b),
        priority_protocol inherited;
#else
     has mutex m;   /* several
                       lines */
#endif
   dataport Buf( 4096 ) d;


}
assembly { composition { component Task t1;
  connection seL4RPCCall c1(from t1.p,
    from t2.p,
    to lock.p) with 1  threads; }
  configuration {
      t1._priority=10;  t1._period = 100ms;
      a.b = dtb({
        "a":1,
        "path" : [ "x",
          "y" ],
      });
      a.s <- b.c["k"] [ 1 ];
      a.t = 1 ? 2:3;
  }
  schedule { [ (0,1 us),(1,2) ] }
}
component Empty { }
"""

TIDY = """\
import <std_connector.camkes>;

/*  A block
 *   comment
 */
procedure Pow {
    int pow(in int base, in int exponent);
    void g(int a[], refin b_t c);
}
component Task {
    control; requestor;
    uses Pow p;  // one
    uses Pow longer;  // two
    emits E e;        // three

    single_threaded_component()
    MACRO
    attribute { int a; string b; } c = {"a": 1, "b": [1, -2, 3 - 4, -(5), !6 ? 1 : 2]};
#ifdef X
    provides P p with requests (a, b),
        priority_protocol inherited;
#else
    has mutex m; /* several
                    lines */
#endif
    dataport Buf(4096) d;
}
assembly {
    composition {
        component Task t1;
        connection seL4RPCCall c1(from t1.p,
            from t2.p,
            to lock.p) with 1 threads;
    }
    configuration {
        t1._priority = 10; t1._period = 100 ms;
        a.b = dtb({
            "a": 1,
            "path": ["x",
                "y"],
        });
        a.s <- b.c["k"][1];
        a.t = 1 ? 2 : 3;
    }
    schedule { [(0, 1 us), (1, 2)] }
}
component Empty {}
"""


def test_the_layout() -> None:
    assert check(UNTIDY) == TIDY


@pytest.mark.parametrize(
    ("text", "tidy"),
    [
        ("", ""),
        ("\n\n\n", ""),
        ("// a\n\n\n\n// b", "// a\n\n// b\n"),
        ("component A {\n\ncontrol;\n\n}", "component A {\n    control;\n}\n"),
        ("component A { // why\ncontrol; }", "component A {  // why\n    control;\n}\n"),
        ("component A { control; }", "component A { control; }\n"),
        ("component A {control;uses P p;}", "component A { control; uses P p; }\n"),
        ("component A // head\n{ }", "component A  // head\n{}\n"),
        ("#define A(x) \\\n   uses  x;\nA(b)", "#define A(x) \\\n   uses  x;\nA(b)\n"),
        ("connection C requests (from a.b,to c.d);", "connection C requests(from a.b, to c.d);\n"),
        ("configuration{a.b=-1+-+2;}", "configuration { a.b = -1 + -+2; }\n"),
        ("configuration{a.b=(-1)- 2**3;}", "configuration { a.b = (-1) - 2 ** 3; }\n"),
        ("configuration { a.b = 1 <<2||!~3; }", "configuration { a.b = 1 << 2 || !~3; }\n"),
        ('configuration { a.b = "x\n  y" ; }', 'configuration {\n    a.b = "x\n  y";\n}\n'),
        ('import"a""b";', 'import "a" "b";\n'),
        ("composition{export a.b->c;}", "composition { export a.b -> c; }\n"),
        ("component A{provides\nP\np;}", "component A {\n    provides\n        P\n        p;\n}\n"),
    ],
)
def test_small_texts(text: str, tidy: str) -> None:
    assert check(text) == tidy


def test_aligned_columns_are_kept() -> None:
    text = """\
configuration {
    high.priority   = 30;  high.period   = 100 ms;
    middle.priority = 20;  middle.period =  50 ms;

    low.priority = 10; low.period = 7 ms;
}
"""
    assert check(text) == text
    assert check(text.replace("    ", "\t").replace("low.priority =", "low.priority  =")) == text


def test_each_branch_of_a_conditional_is_indented_alike() -> None:
    text = "#if A\ncomponent X {\n#else\ncomponent Y {\n#endif\n    control;\n}\n"
    assert check(text) == text


def test_a_file_with_errors_is_left_alone() -> None:
    sink = Sink()
    assert format_file(SourceFile(Path("x"), "component A { contrl; }"), sink) is None
    assert sink.has_errors
    assert format_file(SourceFile(Path("x"), "component A{control;}"), Sink()) == "component A { control; }\n"


@examples(200)
@given(st.data())
def test_white_space_does_not_matter(data: st.DataObject) -> None:
    """Whatever white space stands between the tokens of a file, they stay, and the layout is at rest."""
    blanks = st.sampled_from(
        [" ", "  ", "\n", "\n\n\n", "\t", " // remark\n", " /* a\n  b */ ", "\n#if 1\n#endif\n"]
    )
    start = data.draw(st.integers(0, 200))
    parts = []
    for word in words(GOOD)[start : start + data.draw(st.integers(1, 60))]:
        parts += [word, data.draw(blanks)]
    check("".join(parts))


PIECES = [
    *TABLES.words,
    *TABLES.symbols,
    "a",
    "1",
    '"s"',
    "\n",
    "\n\n",
    "// x\n",
    "/* y */",
    "#if\n",
    "#else\n",
]


@pytest.mark.long
@examples(300)
@given(st.lists(st.sampled_from(PIECES), max_size=40))
def test_nonsense_is_formatted_too(pieces: list[str]) -> None:
    check(" ".join(pieces))


@pytest.mark.long
@settings(deadline=None)
@given(st.text(max_size=100))
def test_random_text_makes_no_traceback(text: str) -> None:
    format_source(text)


def test_a_long_file() -> None:
    text = "configuration {\n" + "a.b = [1, 2];  // x\n" * 500 + "}\n"
    once = format_source(text)
    assert format_source(once) == once


@pytest.mark.long
def test_a_long_line() -> None:
    """Its length must not count twice: then this takes minutes."""
    numbers = ",".join(str(n) for n in range(50_000))
    text = f"configuration{{a.b=[{numbers}];\tc.d=2;/* e */}}\n"
    spaced = numbers.replace(",", ", ")
    assert format_source(text) == f"configuration {{ a.b = [{spaced}]; c.d = 2; /* e */ }}\n"


@pytest.mark.skipif(not CORPUS, reason="CAMKES_CORPUS names no folder of public code")
def test_public_code() -> None:
    files = 0
    for path in sorted([*Path(CORPUS).rglob("*.camkes"), *Path(CORPUS).rglob("*.idl4")]):
        source = read_source(path, Sink())
        if source is not None:
            check(source.text)
            files += 1
    assert files


def test_only_rows_of_one_table_keep_their_columns() -> None:
    """What lines up with a line of another block does so by accident."""
    assert format_source("component  A{\n    control;\n}\n") == "component A {\n    control;\n}\n"
    assert format_source("procedure  P {\n    int  f();\n    void g();\n}\n") == (
        "procedure P {\n    int  f();\n    void g();\n}\n"
    )
