# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What counts as a job: run() itself, or the rounds of camkes_next_job()."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.command import camkes
from tests.end_to_end.support import system

pytestmark = pytest.mark.requirement("RT-31")

MS = 1_000_000
SYSTEM = """
component Task {{ control; requestor; }}
assembly {{
    composition {{ component Task t; }}
    configuration {{ t._priority = 10; {settings} }}
}}
"""
ONCE = "int run(void) { camkes_work(CAMKES_MS(2)); return 0; }\n"
ROUNDS = "int run(void) { while (camkes_next_job()) camkes_work(CAMKES_MS(2)); return 0; }\n"
THREE = ROUNDS.replace("while (", "for (int i = 0; i < 3 && ").replace("()) camkes", "(); i++) camkes")
LATE = "int run(void) { while (camkes_next_job()) camkes_work(CAMKES_MS(15)); return 0; }\n"


@pytest.mark.mostly_long("once")
@pytest.mark.parametrize(
    ("code", "settings", "releases", "responses", "end"),
    [
        (ONCE, "", [0], [2], 2),
        (ONCE, "t._offset = 5 ms;", [5], [2], 7),
        (ONCE, "t._period = 10 ms;", [0], [2], 2),
        (ROUNDS, "", [0], [2], 2),
        (ROUNDS, "t._period = 10 ms; t._offset = 1 ms;", [1, 11, 21, 31], [2, 2, 2, 2], 35),
        (THREE, "t._period = 10 ms;", [0, 10, 20], [2, 2, 2], 22),
        # a late job starts when the one before it ends; a job that was released and did not start counts
        (LATE, "t._period = 10 ms; t._deadline = 10 ms;", [0, 10, 20, 30], [15, 20, None, None], 35),
    ],
    ids=["once", "offset", "once-with-period", "one-round", "periodic", "three", "late"],
)
def test_jobs(
    code: str, settings: str, releases: list[int], responses: list[int | None], end: int, tmp_path: Path
) -> None:
    path = system(tmp_path, SYSTEM.format(settings=settings), {"task.c": code})
    result = camkes("run", path, "-o", tmp_path / "out", "--for", "35ms", "--json")
    assert result.status == 0, result.errors
    report: dict[str, Any] = json.loads(result.output)
    jobs = report["tasks"][0]["job_list"]
    assert [job["release"] for job in jobs] == [r * MS for r in releases]
    assert [job["response"] for job in jobs] == [r if r is None else r * MS for r in responses]
    assert report["end"] == end * MS
