# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""`camkes analyze`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from camkes.cli.main import main
from tests.analysis.shared_store import shared_store

pytestmark = pytest.mark.requirement("AN-14")

NESTED = str(Path(__file__).parents[2] / "examples" / "nested")

#: what b needs is stated by a test
SYSTEM = shared_store(
    "a._priority = 20; a._period = 10 ms; a._wcet = 2 ms;",
    "b._priority = 10; b._period = 20 ms; b._wcet = %s;",
    "s.store_wcet = 1 ms; a.store_requests = 1; b.store_requests = 1;",
)


def analyze(path: Path, wcet: str, *options: str) -> int:
    path.write_text(SYSTEM % wcet)
    return main(["analyze", "--nocpp", str(path), "--platform", "none", *options])


def test_verdicts_and_exit_statuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """C is 3 ms for a, and b's time plus 1 ms. B is 1 ms for a. Rb = Cb + ceil(Rb / 10 ms) * 3 ms."""
    found = {}
    for wcet in ("4 ms", "13 ms", "13 ms; b._deadline = 19999 us", "14 ms"):
        status = analyze(tmp_path / "s.camkes", wcet, "--json")
        document = json.loads(capsys.readouterr().out)
        a, b = document["tasks"]
        assert (a["name"], a["wcet"], a["blocking"], a["response"]) == ("a", 3_000_000, 1_000_000, 4_000_000)
        found[wcet] = (b["response"], b["verdict"], status)
    assert found == {
        "4 ms": (8_000_000, "met", 0),
        "13 ms": (20_000_000, "met", 0),
        "13 ms; b._deadline = 19999 us": (20_000_000, "missed", 1),
        "14 ms": (None, "unbounded", 1),
    }


def test_two_ways_are_two_requests(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """a has two interfaces to the same CPI: C = 2 + 2 * 1."""
    text = (
        (SYSTEM % "4 ms")
        .replace("component Task a;", "component Twice a;")
        .replace("from a.store,", "from a.store, from a.again,")
        .replace(
            "component Shared {",
            "component Twice { control; requestor; uses Store store; uses Store again; }\ncomponent Shared {",
        )
    )
    (tmp_path / "s.camkes").write_text(text)
    assert main(["analyze", "--nocpp", str(tmp_path / "s.camkes"), "--json"]) == 0
    assert [task["wcet"] for task in json.loads(capsys.readouterr().out)["tasks"]] == [4_000_000, 5_000_000]


def test_bounds_that_do_not_apply_give_a_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "s.camkes"
    path.write_text((SYSTEM % "4 ms").replace("b._period", "b._deadline = 15 ms; b._period"))
    assert main(["analyze", "--nocpp", str(path)]) == 0
    text = capsys.readouterr().out
    assert text.count("not applicable: the deadline of b differs from its period") == 3


def test_a_task_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert analyze(tmp_path / "s.camkes", "4 ms", "--explain", "b") == 0
    assert capsys.readouterr().out == (
        "b: priority 10, period 20 ms, deadline 20 ms\n"
        "\n"
        "C = 5 ms, the execution time of a job\n"
        "          4 ms  its own work\n"
        "          1 ms  s.store: 1 request of 1 ms\n"
        "\n"
        "B = 0 ns, blocking by tasks of lower priority\n"
        "\n"
        "R = 8 ms, the longest response: met\n"
        "          5 ms  1 job of its own\n"
        "          0 ns  blocking\n"
        "          3 ms  a: 1 job of 3 ms, period 10 ms\n"
        "\n"
        "Case: a response of 8 ms, the bound is exact\n"
        "  the job released at 0 ns, where the first releases are:\n"
        "          0 ns  a, b\n"
    )
    assert analyze(tmp_path / "s.camkes", "4 ms", "--explain", "bb") == 2
    assert "there is no task 'bb'" in capsys.readouterr().err


def test_errors_of_the_platform_and_of_the_system_are_reported_together(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "s.camkes"
    path.write_text((SYSTEM % "4 ms").replace("b._period = 20 ms;", "b._deadline = 20 ms;"))
    assert main(["analyze", "--nocpp", str(path), "--platform", "sudvarg2024"]) == 1
    assert "E0906" in capsys.readouterr().err
    assert main(["analyze", "--nocpp", str(path)]) == 1
    assert "[E0901]: task `b` has no period" in capsys.readouterr().err


@pytest.mark.long
def test_overheads_are_part_of_every_number(capsys: pytest.CaptureFixture[str]) -> None:
    responses = {}
    for platform in ("none", "sudvarg2024-intel", "sudvarg2024-pi3"):
        assert main(["analyze", NESTED, "--json", "--platform", platform]) == 0
        document = json.loads(capsys.readouterr().out)
        assert document["platform"] == platform
        responses[platform] = [task["response"] for task in document["tasks"]]
    pairs = list(zip(*responses.values(), strict=True))
    assert all(free < intel < pi for free, intel, pi in pairs)


def test_jobs_and_requests_that_take_no_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = (f"{name}._period = 10 ms; {name}._wcet = 0;" for name in "ab")
    path = tmp_path / "s.camkes"
    path.write_text(shared_store("a._priority = 20; b._priority = 10; s.store_wcet = 0;", *settings))
    assert main(["analyze", "--nocpp", str(path), "--json"]) == 0
    assert [task["response"] for task in json.loads(capsys.readouterr().out)["tasks"]] == [0, 0]
