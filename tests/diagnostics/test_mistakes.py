# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A mistake anywhere in an application is one error, at the place of the mistake, with what to write."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from camkes import pipeline
from camkes.diagnostics import Diagnostic, Severity, Sink
from camkes.diagnostics.rendering import Style, render
from tests.diagnostics.mistakes import ADL, CLIENT, FILES, LISTS, MISTAKES, SERVER
from tests.golden import compare

pytestmark = pytest.mark.requirement("CHECK-5")

GOLDEN = Path(__file__).parent / "golden" / "mistakes"
#: of those that CMake, compiling or linking finds, one of each kind
SHORT = {
    "run_misspelt",
    "run_void",
    "handler_missing",
    "handler_type",
    "call_misspelt",
    "call_fewer",
    "undefined_c",
    "cmake_source",
    "cmake_function",
    "cmake_root",
}
#: GCC 14 and newer report the `return` of a function of a wrong type, too
OF_RETURN = re.compile(r"-Wreturn-mismatch|-Wint-conversion")
LONG = {name for name, (file, *_) in MISTAKES.items() if file in (CLIENT, SERVER, LISTS)} - SHORT


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all mistakes: CMake is run and code is compiled again only where that is needed."""
    return tmp_path_factory.mktemp("mistakes") / "app"


def write(folder: Path, name: str = "") -> None:
    """The application with a mistake; files that stay the same are not touched."""
    texts = dict(FILES)
    if name:
        file, before, after = MISTAKES[name]
        assert texts[file].count(before) == 1
        texts[file] = texts[file].replace(before, after)
    for file, text in texts.items():
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def found(folder: Path) -> tuple[Diagnostic, ...]:
    """The diagnostics of a check; those of a build if a check has none."""
    sink = Sink()
    pipeline.check(pipeline.Input(folder), sink)
    if not sink.has_errors:
        sink = Sink()
        pipeline.build(pipeline.Input(folder), folder.parent / "out", sink, lambda _: None)
    return sink.diagnostics


@pytest.mark.long
def test_a_system_without_mistakes_has_no_diagnostics(folder: Path) -> None:
    write(folder)
    assert found(folder) == ()


@pytest.mark.mostly_long(2)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.long] if name in LONG else []) for name in MISTAKES]
)
def test_a_mistake_is_one_error(folder: Path, name: str) -> None:
    write(folder, name)
    said = found(folder)
    errors = [d for d in said if d.severity is Severity.ERROR and not OF_RETURN.search(d.message)]
    assert len(errors) == 1, said
    assert errors[0].span is not None and errors[0].span.file.path.is_relative_to(folder)
    text = render(said, Style(base=folder)).replace(str(folder), "FOLDER")
    text = text.replace(str(Path(__file__).parents[2]), "PROJECT")
    text = re.sub(r"(?m)^  +::: FOLDER\.\./out.*|^.*generated.*\n", "", text)
    assert str(folder.parent) not in text
    if MISTAKES[name][0] in (ADL, LISTS):  # messages differ from compiler to compiler
        compare(text, GOLDEN / f"{name}.txt")
