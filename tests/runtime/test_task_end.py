# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A task whose run() has returned."""

from __future__ import annotations

from pathlib import Path

import pytest

from camkes.running.kinds import EndReason, Kind
from tests.runtime.host import build

pytestmark = pytest.mark.requirement("RT-31")

_TEXT = """
component Task { control; requestor; }
assembly {
    composition { component Task task; }
    configuration { task._priority = 10; task._period = 10 ms; }
}
"""


def test_the_timer_of_a_task_that_ends_is_stopped(tmp_path: Path) -> None:
    """Else the run would go on until its time is over."""
    run = build(tmp_path, _TEXT, {"Task": "int run(void) { return !camkes_next_job(); }\n"}).run()
    assert run.of(Kind.END)[-1].args == (EndReason.IDLE,)
