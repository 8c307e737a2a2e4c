# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Which file an import names, and the diagnostics if it names none."""

import os
from pathlib import Path

import pytest

from camkes.diagnostics import Sink
from camkes.diagnostics.rendering import Style, render
from camkes.resolve import LoadOptions, load
from camkes.resolve.words.nearest import nearest, suggested, suggestion
from tests.golden import compare_part, names_of_parts

pytestmark = pytest.mark.requirement("LANG-9")

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = Path(__file__).parent / "neighbours" / "imports.txt"

#: import -> its message
IMPORTS = (
    '"nothing.camkes"',
    '"std_connector.camkes"',
    '"global-connectors.camkes"',
    "<beside.camkes>",
    "<nothing.camkes>",
    "<std_conector.camkes>",
    "<below/inner.camkes>",
    '"besides.camkes"',
    '"besides.idl4"',
    '"BESIDE.camkes"',
    '"system1.camkes"',
    '"below/iner.camkes"',
    '"gone/inner.camkes"',
    '"below"',
    '"pipe"',
    '"loop.camkes"',
    '"../elsewhere/priority-aware-camkes/priority-connectors.camkes"',
    '"../elsewhere/priority-aware-camkes/priority-connectors.h"',
    '"../elsewhere/other/priority-connectors.camkes"',
    "<there.camkes>",
    '"there.camkes"',
    '"./beside.camkes"',
    '"below/../below/./inner.camkes"',
    '"inner.camkes"',
    '"again.camkes"',
    '"bytes.camkes"',
    '"link/../far.camkes"',
)


def folder(tmp_path: Path) -> Path:
    """`again` is a link to `beside`; `inner` imports what is beside it and above it."""
    application, library = tmp_path / "application", tmp_path / "library"
    below = application / "below"
    for each in (below, library):
        each.mkdir(parents=True)
    (application / "beside.camkes").write_text('component Beside { }\nimport "system.camkes";\n')
    (application / "again.camkes").symlink_to("beside.camkes")
    (application / "loop.camkes").symlink_to("loop.camkes")
    (application / "beside.idl4").write_text("procedure P { void f(); }\n")
    (below / "inner.camkes").write_text(
        'import "own.camkes";\nimport "../beside.camkes";\ncomponent Inner { }\n'
    )
    (below / "own.camkes").write_text("component Own { }\n")
    (application / "bytes.camkes").write_bytes(b"component Gone { }\n\xff\xfe")
    (library / "there.camkes").write_text("component There { }\n")
    (tmp_path / "far.camkes").write_text("component Far { }\n")
    (application / "link").symlink_to(library)
    os.mkfifo(application / "pipe")
    return application


@pytest.mark.parametrize("written", IMPORTS)
def test_import(tmp_path: Path, written: str) -> None:
    application = folder(tmp_path)
    path, sink = application / "system.camkes", Sink()
    path.write_text(
        f'import {written};\nimport "beside.camkes";\ncomponent A {{ }}\n'
        "assembly { composition { component A a; component Beside b; } }\n"
    )
    options = LoadOptions(cpp=False, import_path=(tmp_path / "library",))
    system = load(path, options, sink)
    files = [] if system is None else [file.path for file in system.files]
    text = render(sink.diagnostics, Style(base=application)) + "\n".join(map(str, files))
    text = text.replace(str(tmp_path), "FOLDER").replace(f"{ROOT}/", "")
    compare_part(f"{text}\n", written, GOLDEN)


def test_each_answer_has_an_import() -> None:
    assert names_of_parts(GOLDEN) == set(IMPORTS)


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("a.txt", "x", "a file of CMake or plain text"),
        ("a.CPP", "x", "a source file of C, C++ or assembly"),
        ("a", "\x7fELF", "compiled code"),
        ("a", "!<arch>\n", "a library of compiled code"),
        ("a", "!<arch> ", None),
        ("a", "#!/bin/sh", "a script"),
        ("a", " #!/bin/sh", None),
        ("a.adl", "#!/bin/sh", None),
        ("a.camkes", "#!/bin/sh", None),
        ("gone.c", None, None),
    ],
)
def test_files_of_other_kinds(tmp_path: Path, name: str, text: str | None, kind: str | None) -> None:
    path, sink = tmp_path / name, Sink()
    if text is not None:
        path.write_text(text)
    assert load(path, LoadOptions(cpp=False), sink) is None
    said = [f"`{path}` is {kind}, not a .camkes file"] if kind else []
    assert [d.message for d in sink.diagnostics if "not a .camkes file" in d.message] == said
    assert sink.diagnostics


@pytest.mark.parametrize(
    ("word", "candidates", "near"),
    [
        ("server", ["Server"], "Server"),
        ("server", ["server"], None),
        ("server", ["SERVER", "Server"], "SERVER"),
        ("abcde", ["abcxy", "abxyz"], "abcxy"),
        ("abcde", ["abxyz"], None),
        ("abc", ["xyz"], None),
        ("p_protocol", ["ep_pool", "p_priority_protocol", "p_protocols"], "p_priority_protocol"),
        ("protocol", ["p_priority_protocol", "protocal"], "protocal"),
        ("a_b", ["a_x_b", "a_b_y_z_long_name_that_is_far"], "a_x_b"),
        ("p_x", ["p_a_very_long_name_x"], None),
        ("next", [], None),
    ],
)
def test_the_suggestion_is_the_nearest_word(word: str, candidates: list[str], near: str | None) -> None:
    assert nearest(word, candidates) == near
    assert nearest(word, reversed(candidates)) == near
    assert suggestion(word, candidates) == (f"did you mean `{near}`?" if near else "")


@pytest.mark.parametrize(
    ("help", "word"),
    [
        ("did you mean `a`?", "a"),
        ("did you mean `import <a>;`?", "import <a>;"),
        ("so did you mean `a`?", None),
        ("did you mean a?", None),
        ("did you mean `a`", None),
        ("`?did you mean `", None),
        ("", None),
    ],
)
def test_the_suggested_word_of_a_help(help: str, word: str | None) -> None:
    assert suggested(help) == word
