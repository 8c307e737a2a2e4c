# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What the preprocessor of the system gives, and how often it is started."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from camkes.diagnostics import Sink, SourceFile, Span
from camkes.parser.files import read_source
from camkes.parser.lexer import tokenise
from camkes.parser.positions import ParsedText
from camkes.parser.preprocess import command, preprocess
from camkes.parser.preprocess import run as run_of
from camkes.parser.tables import load as load_tables
from tests.parser.preprocessing import names, tree
from tests.written import write_named

pytestmark = pytest.mark.requirement("LANG-5")

TABLES = load_tables()


def words(text: ParsedText) -> list[str]:
    """The tokens of a text."""
    tokens = tokenise(text, TABLES, Sink())
    return [tokens.word(number) for number in range(len(tokens.kinds))]


pieces = st.lists(
    st.sampled_from(
        [
            *("A", "B", "F", "G", "x", "y", "1", "2.5", '"s A"', "(", ")", "{", ";", ",", "+", "-", ".", "<"),
            *("F(A)", "F (x, B)", "G()", "G((1, 2))", "F(G(1))", "/* A */", "linux", "__LINE__", "\n"),
        ]
    ),
    max_size=8,
).map(" ".join)


one_line = pieces.map(lambda text: text.replace("\n", " "))


directives = st.one_of(
    st.tuples(st.sampled_from(["A", "B", "F", "F(a)", "F(a,b)", "F(...)", "G()", "G(a)"]), one_line).map(
        lambda each: f"#define {each[0]} {each[1]}"
    ),
    st.sampled_from(["A", "B", "F", "G"]).map(lambda name: f"#undef {name}"),
    st.sampled_from(
        [
            "#if A",
            "#ifdef A",
            "# ifndef B // B",
            "#else",
            "#endif",
            "#pragma A",
            '#include "i.h"',
            "/* */ #if 1",
        ]
    ),
)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(directives | pieces, max_size=8), st.lists(directives | pieces, max_size=3))
def test_the_tokens_are_those_that_the_preprocessor_gives(
    folder: Path, lines: list[str], included: list[str]
) -> None:
    path = folder / "a.camkes"
    path.write_text("".join(f"{line}\n" for line in lines))
    (folder / "i.h").write_text("".join(f"{line}\n" for line in included if "#include" not in line))
    reference = subprocess.run(["cpp", "-P", "a.camkes"], capture_output=True, text=True, check=False)
    sink = Sink()
    source = read_source(Path("a.camkes"), sink)
    assert source is not None
    text, read = preprocess(source, sink, "cpp", ())
    assert (text is None) == (reference.returncode != 0)
    assert read[0] is source
    if text is None:
        assert sink.has_errors
    else:
        assert words(text) == words(ParsedText.of(SourceFile(path, reference.stdout)))


def places(text: ParsedText) -> list[tuple[str, Span]]:
    """The tokens of a text, and where they are in the user's files."""
    tokens = tokenise(text, TABLES, Sink())
    spans = map(text.span, tokens.starts[:-1], tokens.ends[:-1])
    return list(zip(words(text), spans, strict=False))


@pytest.mark.long
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(directives | pieces, max_size=8), st.lists(directives | pieces, max_size=3))
def test_one_run_gives_the_result_of_two_runs(folder: Path, lines: list[str], included: list[str]) -> None:
    (folder / "a.camkes").write_text("".join(f"{line}\n" for line in lines))
    (folder / "i.h").write_text("".join(f"{line}\n" for line in included if "#include" not in line))
    source = read_source(Path("a.camkes"), Sink())
    assert source is not None
    once, _ = preprocess(source, Sink(), "cpp", ())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_of._PreprocessorRun, "_from_first", lambda run, macros: None)
        twice, _ = preprocess(source, Sink(), "cpp", ())
    assert (once is None) == (twice is None)
    if once is not None and twice is not None:
        assert [(word, span[1:]) for word, span in places(once)] == [
            (word, span[1:]) for word, span in places(twice)
        ]


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("#define N 3\ncomponent A {}\n", 1),
        ("#define N 3\ncomponent A { attribute int a = N; }\n", 1),
        ("#define N 3\ncomponent A { attribute int a = N + N; }\n", 2),
        ("#define F(a, b) a b\ncomponent A { F(attribute int a = 1;,\n attribute int b = 2;) }\n", 2),
    ],
)
def test_the_preprocessor_runs_again_only_where_necessary(
    folder: Path, monkeypatch: pytest.MonkeyPatch, text: str, runs: int
) -> None:
    path = write_named(folder, a_camkes=text)
    calls = []
    run = command.run_limited
    monkeypatch.setattr(command, "run_limited", lambda *words: calls.append(words) or run(*words))
    assert "A" in names(tree(path))
    assert len(calls) == runs
