# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Tasks that are released together respond the same in whatever order the text declares them."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from random import Random

import pytest
from msgspec import structs

from camkes import pipeline
from camkes.diagnostics import Sink
from tests.end_to_end.support import system

pytestmark = pytest.mark.requirement("TOOL-10")

MS = 1_000_000
SYSTEM = """
procedure P {{ void go(); }}
component Task {{ control; requestor; uses P s; }}
component Lock {{ provides P p with priority_protocol inherited, requests (); }}
component Ceiling {{ provides P p with priority_protocol fixed, requests (); }}
assembly {{
    composition {{ {instances} {connections} }}
    configuration {{ {settings} }}
}}
"""
CODE = {
    "task.c": "int run(void) { while (camkes_next_job()) { camkes_work(20000); s_go(); } return 0; }\n",
    "lock.c": "void p_go(void) { camkes_work(CAMKES_US(70)); }\n",
    "ceiling.c": "void p_go(void) { camkes_work(CAMKES_US(70)); }\n",
}
#: scheduling and choices
RUNS = {
    "first": ("fifo", "first"),
    "random": ("fifo", "random:5"),
    "round robin": ("rr", "first"),
}


def system_text(order: list[int], servers: list[str]) -> str:
    """A task for each number, in this order: few priorities, periods and phases, so that many are equal."""
    called = {f"t{n}": ("lock", "ceiling")[n // 2 % 2] for n in order}
    instances = [f"component Task {name};" for name in called]
    instances += [f"component {name.title()} {name};" for name in servers]
    connections = []
    for server in servers:
        callers = ", ".join(f"from {name}.s" for name, to in called.items() if to == server)
        connections.append(f"connection seL4RPCCall to_{server}({callers}, to {server}.p);")
    settings = [
        f"t{n}._priority = {10 + 10 * (n % 4)}; t{n}._period = {10 + 10 * (n % 3)} ms;"
        f" t{n}._offset = {n % 2 * 10} ms;"
        for n in order
    ]
    return SYSTEM.format(
        instances=" ".join(instances), connections=" ".join(connections), settings=" ".join(settings)
    )


def responses(folder: Path, order: list[int], servers: list[str]) -> dict[str, dict[str, list[int | None]]]:
    """Responses of the jobs of each task in ns, for each of RUNS."""
    folder.mkdir()
    request, sink, found = pipeline.Input(system(folder, system_text(order, servers), CODE)), Sink(), {}
    options = pipeline.RunSettings(
        output=folder / "out", duration=30 * MS, timeslice=30_000, fast=True, verify=True
    )
    with ExitStack() as stack:
        checked = pipeline.check_code(request, folder / "out", sink, lambda _: None)
        assert checked is not None, [d.message for d in sink.diagnostics]
        image = pipeline.build_to_run(checked, options, stack, sink, lambda _: None)
        assert image is not None, [d.message for d in sink.diagnostics]
        for name, (scheduling, choices) in RUNS.items():
            how = structs.replace(options, scheduling=scheduling, choices=choices)
            outcome = pipeline.run_image(image, checked, how, sink)
            assert outcome is not None, [d.message for d in sink.diagnostics]
            assert outcome.violations == ()
            found[name] = {lane.task.name: [job.response for job in lane.jobs] for lane in outcome.run.tasks}
    return found


@pytest.mark.long
@pytest.mark.parametrize("tasks", [10])
def test_many_tasks_in_any_order_of_declaration(tasks: int, tmp_path: Path) -> None:
    """Also where choices are random, and where they share the processor in time slices."""
    order, servers = list(range(tasks)), ["lock", "ceiling"]
    one = responses(tmp_path / "one", order, servers)
    Random(1).shuffle(order)
    other = responses(tmp_path / "other", order, servers[::-1])
    for name in RUNS:
        assert one[name] == other[name], name
        assert all(one[name].values())
    assert len({str(found) for found in one.values()}) == len(RUNS)  # there is something to choose
