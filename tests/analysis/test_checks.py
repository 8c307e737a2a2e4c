# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What is said of systems that have no analysis, to the letter; and that others have one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from camkes import pipeline
from camkes.analysis.blocking import Section, Waits
from camkes.analysis.checks import check
from camkes.analysis.platform import find_platform, names, read_platform
from camkes.analysis.verdict import analyse
from camkes.analysis.workload import workload_of
from camkes.diagnostics import Sink
from camkes.diagnostics.rendering import Form, Style, render
from camkes.report.analysis import explain, to_dict, to_text
from tests.golden import compare

GOLDEN = Path(__file__).parent / "golden"
EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("name", [path.stem for path in sorted(GOLDEN.glob("*.camkes"))])
def test_systems_without_an_analysis(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(GOLDEN)
    sink = Sink()
    checked = pipeline.check(pipeline.Input(Path(f"{name}.camkes")), sink)
    assert checked is not None
    assert not check(checked.system, checked.plan, sink)
    compare(render(sink.diagnostics, Style(Form.TEXT)), GOLDEN / f"{name}.txt")


def test_nested_example(monkeypatch: pytest.MonkeyPatch) -> None:
    sink = Sink()
    checked = pipeline.check(pipeline.Input(EXAMPLES / "nested"), sink)
    assert checked is not None and check(checked.system, checked.plan, sink)
    workload = workload_of(checked.system, checked.plan)
    for name in names():
        analysis = analyse(workload, read_platform(name))
        said = to_dict(analysis)
        for task, result in zip(said["tasks"], analysis.tasks, strict=True):
            assert task["verdict"] == "met" and task["response"] <= task["deadline"]
            text = explain(analysis, result.task.name)
            assert text is not None and "B = " in text and "R = " in text
        assert "can be missed" not in to_text(analysis)
    assert explain(analysis, "nobody") is None


def test_without_scipy_the_search_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    found = [Section(f"t{i}", f"c{k}", 10 * i + k) for i in range(3) for k in range(3)]
    blocking = Waits(tuple(found), {f"c{k}": ((100, 1),) for k in range(3)}, {}).within(50)
    assert (blocking.assignment, blocking.exact, blocking.least) == (None, 33, 33)
    given_up = Waits(tuple(found), {f"c{k}": ((100, 1),) for k in range(3)}, {}).within(50, limit=0)
    assert given_up.least == given_up.classic


def test_platforms_that_are_not_there_or_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    texts = ('clock = "fast"', "clock = 0", "clocks = 1", "clock = ", 'runtime = "other"', "plain.call = -1")
    sink = Sink()
    assert find_platform("unknown", sink) is None
    for number, text in enumerate(texts):
        (tmp_path / f"p{number}.toml").write_text(text)
        assert find_platform(f"p{number}.toml", sink) is None
    (tmp_path / "p.toml").mkdir()
    assert find_platform("p.toml", sink) is None
    (tmp_path / "latin.toml").write_bytes(b'source = "\xe9"')
    assert find_platform("latin.toml", sink) is None
    compare(render(sink.diagnostics, Style(Form.TEXT)), GOLDEN / "platform_profiles.txt")
