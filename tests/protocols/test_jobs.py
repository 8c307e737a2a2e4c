# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What the jobs of tasks do: one derivation, which all commands have."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from camkes.protocols.jobs import Source, TaskJobs, find_jobs
from tests.command import camkes
from tests.end_to_end.support import loop, write
from tests.protocols.test_groups import planned

pytestmark = pytest.mark.requirement("PLAN-5")

MS = 1_000_000
COMPONENTS = """
component First { control; requestor; emits Go go; emits Go other; }
component Next { control; requestor; consumes Go go; emits Go on; }
component Once { control; requestor; }"""
ASSEMBLY = """
composition {
    component First first; component Next second; component Next third; component Once once;
    connection seL4NotificationNative a(from first.go, to second.go);
    connection seL4NotificationNative b(from second.on, to third.go);
}
configuration {
    first._priority = 30; first._period = 10 ms; first._deadline = 8 ms;
    second._priority = 20; second._release = "go"; %s
    third._priority = 10; third._release = "go"; once._priority = 5;
}"""


def jobs(folder: Path, settings: str = "") -> dict[str, TaskJobs]:
    text = f"import <std_connector.camkes>;{COMPONENTS}\nassembly {{ {ASSEMBLY % settings} }}"
    return dict(find_jobs(*planned(folder, text)))


def test_where_values_are_from(tmp_path: Path) -> None:
    found = jobs(tmp_path)
    values = {
        name: (
            each.release,
            each.emitter,
            each.period,
            each.period_source,
            each.deadline,
            each.deadline_source,
        )
        for name, each in found.items()
    }
    assert values == {
        "first": ("timer", "", 10 * MS, Source.STATED, 8 * MS, Source.STATED),
        "second": ("event", "first", 10 * MS, Source.EMITTER, 10 * MS, Source.DEFAULT),
        "third": ("event", "second", 10 * MS, Source.EMITTER, 10 * MS, Source.DEFAULT),
        "once": ("boot", "", None, None, None, None),
    }
    assert found["third"].follows == "second" and found["first"].follows == ""


def test_a_period_that_does_not_count(tmp_path: Path) -> None:
    """A deadline counts, and a period that is the emitter's is not overruled."""
    second = jobs(tmp_path, "second._period = 100 ms; second._deadline = 3 ms;")["second"]
    assert (second.period, second.overruled, second.deadline) == (10 * MS, 100 * MS, 3 * MS)
    assert jobs(tmp_path, "second._period = 10 ms;")["second"].overruled is None


def test_plan_shows_them(tmp_path: Path) -> None:
    sources = {
        "First": loop("go_emit(); other_emit(); other_emit();"),
        "Next": loop("on_emit();"),
        "Once": "int run(void) { return 0; }",
    }
    path = write(tmp_path, COMPONENTS, ASSEMBLY % "second._period = 100 ms;", sources)
    text = camkes("plan", path, "-q").output
    rows = [line.split() for line in text[text.index("jobs of") :].splitlines()[1:5]]
    assert rows == [
        ["first", "a", "timer", "10", "ms", "8", "ms", "-"],
        ["second", "second.go", "10", "ms", "of", "first", "the", "period", "-"],
        ["third", "third.go", "10", "ms", "of", "second", "the", "period", "-"],
        ["once", "the", "start", "-", "-", "-"],
    ]
    second = json.loads(camkes("plan", path, "-q", "--json").output)["jobs"][1]
    assert (second["events"], second["overruled"], second["period_source"]) == (1, 100 * MS, "emitter")
    assert "W0547" in camkes("check", path).errors


@pytest.mark.parametrize(
    ("settings", "deadline", "missed"),
    [("", 10, 0), ("second._deadline = 3 ms;", 3, 2), ("second._period = 1 ms;", 10, 0)],
)
def test_a_run_counts_misses_with_the_deadline_of_the_analysis(
    settings: str, deadline: int, missed: int, tmp_path: Path
) -> None:
    """A job of `second` takes 5 ms."""
    sources = {
        "First": loop("MS(1); go_emit();"),
        "Next": loop('MS(get_instance_name()[0] == \'s\' ? 5 : 1); on_emit();'),
        "Once": "int run(void) { return 0; }",
    }  # fmt: skip
    path = write(tmp_path, COMPONENTS, ASSEMBLY % settings, sources)
    words = ("run", path, "-o", tmp_path / "out", "--for", "20ms", "-q", "--deny", "missed", "--json")
    result = camkes(*words)
    tasks = {task["name"]: task for task in json.loads(result.output)["tasks"]}
    assert (tasks["second"]["deadline"], tasks["second"]["missed"]) == (deadline * MS, missed)
    assert result.status == (1 if missed else 0)
    analysis = camkes("analyze", path, "-o", tmp_path / "out", "-q", "--json")
    found = {task["name"]: task for task in json.loads(analysis.output)["tasks"]}
    assert found["second"]["deadline"] == deadline * MS
