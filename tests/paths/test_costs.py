# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Costs of operations with bounds of paths: kernel parts of a profile, and the bounds of one system."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from camkes import pipeline
from camkes.analysis.platform import EventCost, Halves, InheritanceCost, Platform, TimerCost, UserPart
from camkes.analysis.verdict import analyse_system
from camkes.diagnostics import Sink
from camkes.paths.codes import UNUSABLE_BOUNDS
from camkes.paths.costs import PathBounds, user_part, with_bounds
from camkes.paths.system import PathKind
from tests.command import camkes
from tests.documents import conforming
from tests.runtime.host import checked

pytestmark = pytest.mark.requirement("AN-32")

_SYSTEM = """
procedure Store { void put(in int value); }
component Client { control; requestor; uses Store store; }
component Shared { provides Store s; }
assembly {
    composition {
        component Client high;
        component Client low;
        component Shared shared;
        connection seL4RPCCall c(from high.store, from low.store, to shared.s);
    }
    configuration {
        high._priority = 20; high._period = 10 ms; high._wcet = 1 ms;
        low._priority = 10; low._period = 20 ms; low._wcet = 1 ms;
        shared.s_priority_protocol = "inherited"; shared.s_wcet = 100 us;
    }
}
"""
_MACHINE = Platform(
    "machine",
    plain=Halves(250, 282),
    inherited=InheritanceCost(acquire=1600, release=2000, queue=2800, update=2600),
    timer=TimerCost(release=7000, each=25),
    event=EventCost(400, 1100),
    user=UserPart("x86_64", 1, plain=30, fixed=30, propagated=30, manager=40, driver=60, job=20, emit=5),
)
_REQUEST, _REPLY, _CONTENDED, _STEP, _JOB, _DRIVER = 21, 22, 227, 407, 256, 319


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> pipeline.Checked:
    return checked(tmp_path_factory.mktemp("costs"), _SYSTEM, Sink())


def _bounds(request: int | None = _REQUEST, **changed: object) -> PathBounds:
    found = {
        ("high", "store.put", PathKind.REQUEST): request,
        ("low", "store.put", PathKind.REQUEST): _REQUEST,
        ("shared", "s.put", PathKind.REPLY): _REPLY,
        ("shared", "s.put", PathKind.CONTENDED): _CONTENDED,
        ("shared", "", PathKind.MANAGER): _STEP,
        ("high", "", PathKind.JOB): _JOB,
        ("timer-driver", "", PathKind.DRIVER): _DRIVER,
    }
    return replace(PathBounds("x86_64", False, found), **changed)


def _with(system: pipeline.Checked, bounds: PathBounds, machine: Platform = _MACHINE) -> Platform:
    sink = Sink()
    found = with_bounds(machine, bounds, system.plan, sink)
    assert found is not None, sink.diagnostics
    return found


def test_figures_are_the_kernels_part_and_a_bound(system: pipeline.Checked) -> None:
    found, user = _with(system, _bounds()), _MACHINE.user
    assert found.plain.both == 250 + 282 - user.plain + _REQUEST + _REPLY
    assert found.inherited.acquire == 1600 - user.manager + _STEP + _CONTENDED - _REPLY
    assert found.inherited.release == 2000 - user.manager + _STEP
    assert found.inherited.update == 2600 - user.manager + 3 * _STEP
    assert found.timer.release == 7000 - user.driver - user.job + _DRIVER + _JOB
    assert found.timer.each == 25 and found.inherited.queue == 2800
    assert {each.name: (each.kernel, each.user) for each in found.bounded}["plain"] == (
        250 + 282 - user.plain,
        _REQUEST + _REPLY,
    )


def test_what_a_system_does_not_have_stays_as_it_was_measured(system: pipeline.Checked) -> None:
    found = _with(system, _bounds())
    parts = ("fixed", "propagated", "event", "overrun", "tick")
    assert all(getattr(found, part) == getattr(_MACHINE, part) for part in parts)
    emits = {**_bounds().instructions, ("high", "done.emit", PathKind.CALL): 9}
    with_event = _with(system, _bounds(instructions=emits)).event
    assert with_event == EventCost(400 - 5 + 9, 1100 - 5 - 20 + 9 + _JOB)


def test_on_a_board_nothing_is_subtracted(system: pipeline.Checked) -> None:
    machine = replace(_MACHINE, user=UserPart(cycles=40))
    found = _with(system, _bounds(), machine)
    assert found.plain.both == 250 + 282 + 40 * (_REQUEST + _REPLY)
    assert found.inherited.release == 2000 + 40 * _STEP


def test_longer_glue_makes_responses_longer(system: pipeline.Checked) -> None:
    """Above those with what was measured, as soon as the bound is above what was measured."""

    def response(platform: Platform) -> int:
        analysis = analyse_system(system.system, system.plan, platform, Sink(), unread={})
        assert analysis is not None
        (found,) = (each.response for each in analysis.tasks if each.task.name == "high")
        assert found is not None
        return int(found.time)

    bounds = [_bounds(request) for request in (_REQUEST, _REQUEST + 5000)]
    usual, longer = (response(_with(system, each)) for each in bounds)
    assert longer >= usual + 5000
    assert longer > response(_MACHINE)


def test_the_kernels_part_is_an_assumption(system: pipeline.Checked) -> None:
    analysis = analyse_system(system.system, system.plan, _with(system, _bounds()), Sink(), unread={})
    assert analysis is not None
    texts = [each.text for each in analysis.assumptions]
    assumed = "the bounds of paths are of the image, and the kernel takes no more cycles than measured: "
    assert any(text.startswith(f"{assumed}502 of `plain`") for text in texts)


@pytest.mark.parametrize(
    ("bounds", "machine", "text"),
    [
        (_bounds(None), _MACHINE, "paths of the system have no bound: `request of high.store.put`"),
        (_bounds(architecture="aarch64"), _MACHINE, "the bounds are those of aarch64"),
        (_bounds(mcs=True), _MACHINE, "the bounds are those for an MCS kernel"),
        (_bounds(instructions={}), _MACHINE, "they have no reply of `shared.s`"),
        (_bounds(), Platform("board"), "how many cycles an instruction takes at most"),
    ],
)
def test_bounds_that_cannot_be_used(
    system: pipeline.Checked, bounds: PathBounds, machine: Platform, text: str
) -> None:
    sink = Sink()
    assert with_bounds(machine, bounds, system.plan, sink) is None
    (found,) = sink.diagnostics
    assert found.code is UNUSABLE_BOUNDS and text in found.message


def test_a_profile_has_what_its_paths_execute_at_least() -> None:
    least = {
        ("client", "plain.now", PathKind.REQUEST): 18,
        ("other", "plain.now", PathKind.REQUEST): 1,
        ("plain", "p.now", PathKind.REPLY): 15,
        ("inherited", "", PathKind.MANAGER): 41,
        ("inner", "", PathKind.MANAGER): 40,
        ("higher", "", PathKind.JOB): 9,
    }
    found = user_part("x86_64", least)
    assert (found.architecture, found.cycles, found.plain, found.manager, found.job) == (
        "x86_64",
        1,
        33,
        40,
        9,
    )


def test_the_command_takes_what_another_one_has_written(tmp_path: Path) -> None:
    (tmp_path / "system.camkes").write_text(f"import <std_connector.camkes>;\n{_SYSTEM}")
    file, machine = tmp_path / "bounds.json", "qemu-x86_64"
    words = (
        "analyze",
        tmp_path / "system.camkes",
        "--text",
        "--platform",
        machine,
        "--paths",
        file,
        "--json",
    )
    missing = camkes(*words)
    assert missing.status == 1 and "E0798" in missing.errors
    bounds = _bounds()
    paths = [
        {"instance": i, "name": n, "kind": kind.value, "instructions": most, "kernel": {}}
        for (i, n, kind), most in bounds.instructions.items()
    ]
    document = {"schema": 1, "system": "system", "architecture": "x86_64", "mcs": False, "complete": True}
    file.write_text(json.dumps({**document, "paths": paths, "contracts": [], "assumed": []}))
    report = conforming("analyze", camkes(*words).output)
    assert any("no more cycles than measured" in each["text"] for each in report["assumptions"])
    assert camkes("analyze", tmp_path / "system.camkes", "--paths", file).status == 2
    for number in (0, -5):
        wrong = [{**each, "instructions": number} for each in paths]
        file.write_text(json.dumps({**document, "paths": wrong, "contracts": [], "assumed": []}))
        found = camkes(*words)
        assert found.status == 1 and "E0798" in found.errors and "Traceback" not in found.errors
