# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Headers come before the plan: also for systems that will turn out to be wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from camkes import pipeline
from camkes.capdl.allocate import allocate
from camkes.diagnostics import Sink
from camkes.generate import generate, generate_headers
from camkes.resolve.load import load
from camkes.resolve.options import LoadOptions

pytestmark = pytest.mark.requirement("PLAN-6")

ROOT = Path(__file__).resolve().parents[2]
WRONG = sorted(
    p for p in (ROOT / "tests" / "protocols" / "golden").glob("*.camkes") if p.stem != "several_types"
)


@pytest.mark.mostly_long(3)
@pytest.mark.parametrize("path", WRONG, ids=lambda path: path.stem)
def test_mistakes_of_protocols_do_not_matter(path: Path, tmp_path: Path) -> None:
    system = load(path, LoadOptions(cpp=False), Sink())
    assert system is not None
    folders = generate_headers(system, tmp_path)
    assert set(folders) == {i.name for i in system.instances if not i.type.hardware}


@pytest.mark.long
@pytest.mark.parametrize(
    "example", sorted(p.name for p in (ROOT / "examples").iterdir() if (p / "expected.txt").exists())
)
def test_headers_are_those_of_the_build(example: str, tmp_path: Path) -> None:
    sink = Sink()
    checked = pipeline.check(pipeline.Input(ROOT / "examples" / example), sink)
    assert checked is not None
    model = allocate(checked.system, checked.plan, sink)
    folders = generate_headers(checked.system, tmp_path)
    before = {name: (folder / "camkes.h").read_text() for name, folder in folders.items()}
    generate(checked.system, checked.plan, model, tmp_path, sink)
    assert before == {name: (folder / "camkes.h").read_text() for name, folder in folders.items()}
