# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Texts that are kept are those that would be rendered."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from camkes.generate import render

pytestmark = pytest.mark.requirement("RT-14")


@dataclass(frozen=True, slots=True)
class Me:
    name: str


@pytest.fixture
def templates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "templates"
    (folder / "parts").mkdir(parents=True)
    (folder / "hello.c").write_text('/* hello /*? me.name ?*/ */\n/*- include "parts/end.c" -*/\n')
    (folder / "parts" / "end.c").write_text("/* end */\n")
    return folder


def text(folder: Path, name: str = "you") -> str:
    me: Any = Me(name)
    return render.Renderer(folder).render("hello.c", me)


def forbid(monkeypatch: pytest.MonkeyPatch) -> None:
    def no(folder: Path) -> None:
        raise AssertionError("the template engine was loaded")

    monkeypatch.setattr(render, "_environment", no)


def test_a_known_text_needs_no_template_engine(templates: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = text(templates)
    assert first == "/* hello you */\n/* end */\n"
    forbid(monkeypatch)
    assert text(templates) == first


def test_another_context_is_another_text(templates: Path) -> None:
    assert text(templates) != text(templates, "me")


@pytest.mark.parametrize("part", ["hello.c", "parts/end.c"])
def test_a_changed_template_is_rendered(templates: Path, part: str) -> None:
    text(templates)
    (templates / part).write_text("/* other */\n")
    assert "/* other */" in text(templates)


def test_a_missing_cache_is_not_an_error(templates: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("in the way")
    assert text(templates) == "/* hello you */\n/* end */\n"


def test_a_damaged_text_is_made_again(templates: Path, tmp_path: Path) -> None:
    first = text(templates)
    (kept,) = (tmp_path / "cache" / "camkes-rt" / "texts").iterdir()
    kept.write_bytes(b"\xff")
    assert text(templates) == first


def test_old_texts_are_forgotten(templates: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(render, "MOST_KEPT", 10)
    for number in range(40):
        text(templates, str(number))
    assert len(list((tmp_path / "cache" / "camkes-rt" / "texts").iterdir())) <= 10
    forbid(monkeypatch)
    assert "39" in text(templates, "39")
