# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Cases in processes some of which end or take too long: no other case is lost."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from camkes.sweep.workers import Lost, Workers, WorkersError, local
from tests.processes import Marked

pytestmark = pytest.mark.requirement("AN-29")

END, HANG, END_ONCE, RAISE = -1, -2, -3, -4


def square(case: int) -> int:
    if case == END:
        os.kill(os.getpid(), signal.SIGKILL)
    if case == HANG:
        time.sleep(3600)
    if case == END_ONCE:
        marker = Path(os.environ["CAMKES_TEST_MARKER"])
        if not marker.exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
    if case == RAISE:
        raise ValueError("a case that cannot be")
    return case * case


class NotThere:
    def __reduce__(self) -> tuple[object, ...]:
        return os._exit, (3,)

    def __call__(self, case: int) -> int:
        return case


def results(workers: Workers[int, int], cases: list[int]) -> list[int | Lost]:
    found = dict(workers(cases))
    assert sorted(found) == list(range(len(cases)))
    return [found[index] for index in range(len(cases))]


def test_cases_of_processes_that_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One process ends always, one once, one takes too long; all others have their results, also in a second
    series by the same processes."""
    monkeypatch.setenv("CAMKES_TEST_MARKER", str(tmp_path / "ended"))
    cases = [*range(10), END, *range(10), END_ONCE, *range(10), HANG, *range(10)]
    with local(square, 2, 3.0) as workers:
        found = results(workers, cases)
        assert results(workers, [5, 6]) == [25, 36]
    assert (tmp_path / "ended").exists()
    expected: list[int | Lost] = [case * case for case in cases]
    expected[10] = Lost("its process was ended by SIGKILL")
    expected[32] = Lost("it took more than 3 s")
    assert found == expected


def process(case: int) -> int:
    return os.getpid()


def test_each_process_has_a_case() -> None:
    """No process has two while another one has none."""
    with local(process, 3, 60.0) as workers:
        assert len(set(results(workers, [1, 2, 3]))) == 3


def test_what_a_function_raises_is_raised() -> None:
    with pytest.raises(ValueError, match="a case that cannot be"), local(square, 2) as workers:
        results(workers, [1, 2, RAISE, 3])


def test_a_function_that_no_process_can_have() -> None:
    why = "does not start: its process ended with status 3"
    with pytest.raises(WorkersError, match=why), local(NotThere(), 1, 1.0) as workers:
        results(workers, [1])


def test_nothing_is_left_of_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    marked = Marked()
    monkeypatch.setenv(*marked.variable)
    with local(square, 2, 60.0) as workers:
        found = iter(workers([1, 2, HANG, 4]))
        next(found)
        assert marked.alive()
    marked.assert_none()
