# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A search tries the durations between bounds with which the order of events is another one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from camkes.cli.main import main
from tests.explore.test_shared_memory import JOBS, Program, explored

pytestmark = pytest.mark.requirement("AN-20")

TEXT = """procedure P {{ void go(); }}
component Slow {{ control; requestor; uses P p; }}
component Urgent {{ control; requestor; uses P p; }}
component Server {{ provides P p with priority_protocol inherited, requests (); }}
assembly {{ composition {{
    component Slow slow; component Urgent urgent; component Server server;
    connection seL4RPCCall x(from slow.p, from urgent.p, to server.p);
}} configuration {{
    slow._priority = 20; slow._period = 40 ms;
    urgent._priority = 30; urgent._period = {}; urgent._offset = {}; urgent._deadline = {};
}} }}
"""
ONE = "camkes_work_between(CAMKES_MS(1), CAMKES_MS(5));"
TWO = "camkes_work_between(CAMKES_MS(1), CAMKES_MS(3)); camkes_work_between(CAMKES_US(500), CAMKES_US(1500));"


def program(
    name: str, work: str, wrong: str = "", times: tuple[str, str, str] = ("40 ms", "6 ms", "3 ms")
) -> Program:
    """The urgent task waits for the lock of 1.5 ms that the other one takes 2 ms after `work`, and then
    needs 1.6 ms itself: 3.1 ms at most."""
    code = {
        "Slow": JOBS.format(f"{work} camkes_work(CAMKES_MS(2)); p_go();"),
        "Urgent": JOBS.format("camkes_work(CAMKES_US(100)); p_go();"),
        "Server": "void p_go(void) { camkes_work(CAMKES_US(1500)); }\n",
    }
    return Program(name, TEXT.format(*times), code, wrong)


#: neither a bound nor an end at a release: with 4 ms the lock is taken just before the release
PROGRAMS = (
    program("end-of-the-next-work", ONE, "D"),
    program("longest-wait-is-met", ONE, times=("40 ms", "6 ms", "3100 us")),
    program("sum-of-two", TWO, "D"),
    program("second-release", ONE, "D", ("5 ms", "1 ms", "3 ms")),
)


@pytest.mark.mostly_long(3)
@pytest.mark.parametrize("each", PROGRAMS, ids=[p.name for p in PROGRAMS])
def test_a_deadline_is_missed_with_one_duration_only(
    each: Program, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = explored(tmp_path, each, any_order=False, until=40_000_000)
    stated = found.passes[-1]
    assert stated.state.between
    if not each.wrong:
        assert (found.violation, stated.verdict) == (None, "exhausted")
        assert "\n  durations between their bounds with which" in found.report_text()
        return
    assert found.violation is not None and found.violation.property == each.wrong
    # the schedule has the duration itself
    assert found.schedule is not None
    choices = json.loads(found.schedule.read_text())["choices"]
    assert max(choices) > 100_000
    for command in ("explore", "run"):
        words = [command, str(tmp_path), "-o", str(tmp_path / "out"), "--replay", str(found.schedule)]
        assert main([*words, *(["--deny", "missed"] if command == "run" else [])]) == 1
