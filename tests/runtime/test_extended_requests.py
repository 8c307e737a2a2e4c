# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Requests without budget that are extended at CPIs without a lock. The figures were computed by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from camkes import pipeline
from camkes.diagnostics import Sink
from camkes.running.kinds import Kind
from tests.runtime.host import Run, build, checked

pytestmark = pytest.mark.requirement("RT-20")

MS = 1_000_000

SYSTEM = """
procedure Section { int enter(in int ms); }
component User { control; requestor; uses Section s; attribute int jobs; }
component Fixed { provides Section s with priority_protocol fixed, overrun extend; }
component Own { provides Section s with priority_protocol propagated, overrun extend; }
assembly {
    composition {
        component User first; component User second; component Fixed shared;
        component User alone; component Own own;
        connection seL4RPCCall c1(from first.s, from second.s, to shared.s);
        connection seL4RPCCall c2(from alone.s, to own.s);
    }
    configuration {
        first._priority = 20; first._period = 20 ms; first._budget = 3 ms; first.jobs = 3;
        second._priority = 30; second._period = 50 ms; second._offset = 1 ms; second.jobs = 2;
        alone._priority = 20; alone._period = 20 ms; alone._budget = 3 ms; alone.jobs = 3;
        alone._offset = 200 ms;
        shared.s_extension = 2 ms; shared.s_extension_period = 20 ms;
        own.s_extension = 2 ms; own.s_extension_period = 20 ms;
    }
}
"""
HEAD = "#include <camkes/realtime.h>\n"
SERVER = (
    HEAD
    + """
int s_enter(int ms)
{
    camkes_work(CAMKES_MS(ms));
    printf("%s %d\\n", get_instance_name(), (int)(camkes_now() / 1000000));
    return ms + 1;
}
"""
)
SOURCES = {
    "User": HEAD
    + """
int run(void)
{
    for (int i = 0; i < jobs && camkes_next_job(); i++) {
        if (s_enter(4) != 5) {
            printf("wrong\\n");
        }
    }
    return 0;
}
""",
    "Fixed": SERVER,
    "Own": SERVER,
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return build(tmp_path_factory.mktemp("extended"), SYSTEM, SOURCES, mcs=True).run()


def test_the_thread_serves_the_next_when_the_extended_request_ends(run: Run) -> None:
    """The first at 4, 24 and 44, the second, which came at 1, from 4 to 8, and from 51 to 55: so the thread
    is on the time of its callers again."""
    text = "".join(event.text for event in run.of(Kind.OUTPUT)).splitlines()
    assert text == [
        *(f"shared {end}" for end in (4, 8, 24, 44, 55)),
        *(f"own {end}" for end in (204, 224, 244)),
    ]
    # who has used up its budget gets the reply at the refill
    for task, responses in (("second", [7, 4]), ("first", [20] * 3), ("alone", [20] * 3)):
        assert [end.time - end.args[1] for end in run.of(Kind.JOB_END, task)] == [r * MS for r in responses]


def test_nothing_is_left(run: Run) -> None:
    assert run.violations() == []
    assert run.without_own_time() == []


UNREACHED = """
procedure P { void go(); }
component Task { control; requestor; uses P down; }
component Above { provides P p with priority_protocol propagated, overrun extend; uses P down; }
component Below { provides P p with priority_protocol propagated, overrun extend; }
assembly {
    composition {
        component Task task; component Above above; component Below below;
        connection seL4RPCCall down(from task.down, from above.down, to below.p);
    }
    configuration {
        task._priority = 10; task._period = 10 ms; task._budget = 1 ms;
        above.p_extension = 1 ms; below.p_extension = 1 ms;
    }
}
"""


def test_there_is_no_extension_of_a_cpi_that_no_task_reaches(tmp_path: Path) -> None:
    """A request of it could come to one that tasks request."""
    sink = Sink()
    model = pipeline.capabilities(checked(tmp_path, UNREACHED, sink, mcs=True), sink)
    objects = {item.name for item in model.objects}
    assert "below.p!extension:sc" in objects
    assert {cap.object for space in model.spaces for cap in space.caps} <= objects
