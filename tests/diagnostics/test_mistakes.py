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
from tests.diagnostics.mistakes import ADL, FILES, LISTS, MISTAKES
from tests.golden import compare

GOLDEN = Path(__file__).parent / "golden" / "mistakes"


def application(folder: Path, name: str = "") -> Path:
    for file, text in FILES.items():
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    if name:
        file, before, after = MISTAKES[name]
        assert FILES[file].count(before) == 1
        (folder / file).write_text(FILES[file].replace(before, after))
    return folder


def found(folder: Path) -> tuple[Diagnostic, ...]:
    """What a check says; what a build says, where the check says nothing."""
    sink = Sink()
    pipeline.check(pipeline.Input(folder), sink)
    if not sink.has_errors:
        sink = Sink()
        pipeline.build(pipeline.Input(folder), folder.parent / "out", sink, lambda _: None)
    return sink.diagnostics


def test_without_a_mistake(tmp_path: Path) -> None:
    assert found(application(tmp_path / "app")) == ()


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_one_error(tmp_path: Path, name: str) -> None:
    folder = application(tmp_path / "app", name)
    said = found(folder)
    errors = [d for d in said if d.severity is Severity.ERROR]
    assert len(errors) == 1, said
    assert errors[0].span is not None and errors[0].span.file.path.is_relative_to(folder)
    text = render(said, Style(base=folder)).replace(str(folder), "FOLDER")
    text = text.replace(str(Path(__file__).parents[2]), "PROJECT")
    text = re.sub(r"(?m)^  +::: FOLDER\.\./out.*|^.*generated.*\n", "", text)
    assert str(tmp_path) not in text
    if MISTAKES[name][0] in (ADL, LISTS):  # what a compiler says differs from compiler to compiler
        compare(text, GOLDEN / f"{name}.txt")
