# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Where virtual time passes: the times of examples/inversion, which its README computes by hand."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from camkes.showing.draw.flame import Bar, bars, flame_svg
from tests.command import ROOT, camkes

pytestmark = pytest.mark.requirement("TOOL-14")

SVG = "{http://www.w3.org/2000/svg}"


def test_profiles_have_the_time_of_each_task_and_component(tmp_path: Path) -> None:
    words = ("-o", tmp_path / "out", "--for", "100ms", "--profile", tmp_path / "profile")
    result = camkes("run", ROOT / "examples" / "inversion", *words)
    assert result.status == 0, result.errors
    profile = tmp_path / "profile"
    assert (profile / "tasks.folded").read_text().splitlines() == [
        "high 1000000",
        "high;shared.store 4000000",
        "low 1000000",
        "low;shared.store 4000000",
        "middle 20000000",
    ]
    assert (profile / "components.folded").read_text().splitlines() == [
        "high;run 1000000",
        "low;run 1000000",
        "middle;run 20000000",
        "shared;store;for high 4000000",
        "shared;store;for low 4000000",
    ]
    picture = ElementTree.parse(profile / "tasks.svg").getroot()
    hints = [title.text for title in picture.iter(f"{SVG}title")]
    assert "high > shared.store: 4 ms, 13.3 %" in hints
    assert next(picture.iter(f"{SVG}text")).text == "inversion: tasks, 30 ms of 100 ms"


def test_names_that_do_not_fit_on_a_bar_are_shortened() -> None:
    name = "housekeeping_and_health_monitoring"
    picture = flame_svg({(name,): 100, ("x" * 20,): 900, ("y",): 1}, 2000, "t")
    (shown,) = re.findall(r">(\w+)…</text>", picture)
    assert name.startswith(shown) and f">{name}: 100 ns" in picture


def test_bars_are_stacked_on_their_callers() -> None:
    assert bars({("a",): 1, ("a", "x"): 2, ("a", "y"): 3, ("b", "x"): 4}) == [
        Bar(("a",), 0, 6),
        Bar(("a", "x"), 0, 2),
        Bar(("a", "y"), 2, 3),
        Bar(("b",), 6, 4),
        Bar(("b", "x"), 6, 4),
    ]
    assert bars({}) == []
