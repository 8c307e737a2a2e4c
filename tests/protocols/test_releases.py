# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Which task follows which: by events that release jobs, and by what they write and read."""

from __future__ import annotations

from pathlib import Path

import pytest

from camkes.capdl.allocate import allocate, release_event
from camkes.capdl.uses import Release, ReleaseTimer
from camkes.protocols.releases import writers
from tests.protocols.test_groups import planned

pytestmark = pytest.mark.requirement("PLAN-5")

TEXT = """import <std_connector.camkes>;
component Writer { control; requestor; dataport Buf d; emits Go go; emits Go other; }
component Reader { control; requestor; dataport Buf d; }
component Follower { control; requestor; consumes Go other; consumes Go go; }
assembly {
    composition {
        component Writer writer; component Reader reader; component Follower follower;
        connection seL4SharedData c1(from writer.d, to reader.d);
        connection seL4NotificationNative c2(from writer.other, to follower.other);
        connection seL4NotificationNative c3(from writer.go, to follower.go);
    }
    configuration {
        writer._priority = 10; writer._period = 10 ms; writer.d_access = "W";
        reader._priority = 20; reader._period = 20 ms; reader.d_access = "R";
        follower._priority = 30; follower._release = "go";
    }
}
"""


def test_a_reader_depends_on_the_tasks_that_only_write(tmp_path: Path) -> None:
    system, plan = planned(tmp_path, TEXT)
    assert writers(system, plan) == {"reader": ("writer",)}


def test_the_event_that_releases_a_task_is_that_of_its_release(tmp_path: Path) -> None:
    """It has no timer, and what the event signals is what the jobs wait for."""
    system, plan = planned(tmp_path, TEXT)
    tasks = {task.instance: task for task in system.tasks}
    assert [release_event(system, tasks[name]) for name in ("reader", "follower")] == ["", "c3:notification"]
    model = allocate(system, plan)
    timers = {timer.object: (timer.notification, timer.period) for timer in model.timers}
    assert "follower:timer" not in timers and ReleaseTimer("follower") not in model.slots
    (space,) = (each for each in model.spaces if each.name == "follower")
    slot = model.slots[Release("follower")]
    assert [cap.object for cap in space.caps if cap.slot == slot] == ["c3:notification"]
    assert timers["reader:timer"] == ("reader:release", 20_000_000)
