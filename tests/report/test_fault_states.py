# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Faults at every state of a lock, a part of them: `python -m tests.report.fault_states` runs all."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from camkes.capdl.uses import WorkerTcb
from camkes.diagnostics import Sink
from tests.command import camkes
from tests.documents import conforming
from tests.end_to_end.support import system
from tests.host.test_confinement import KERNEL_MEMORY
from tests.host.test_ending import BLOCKS
from tests.runtime.host import plan_of

from .compare import compare_outputs
from .fault_states import NAMES, NOTHING, SHAPES, SUSPEND, System
from .test_outputs_agree import CODE, LOCK, ORDER, SERVE, lanes

pytestmark = pytest.mark.requirement("AN-28")

CASES = 12
#: one of each kind; the others are parts of `nested-3` and `pooled-lock`
PART = ("plain", "fixed", "nested-fixed", "fixed-nested", "nested-3", "pooled-lock")
SHORT = ("fixed", "nested-3", "pooled-lock")


@pytest.mark.mostly_long(3)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in SHORT else [pytest.mark.long]) for name in PART]
)
def test_after_any_failure_the_report_is_correct_and_other_components_run(name: str, tmp_path: Path) -> None:
    with ExitStack() as stack:
        shape = System(SHAPES[name], tmp_path, stack)
        good, _ = shape.run(NOTHING)
        assert shape.mistakes(NOTHING, good) == []
        # a loop takes the time of the workstation until it is found
        troubles = [t for t in shape.troubles(good) if t.action >= SUSPEND or NAMES[t.action] != "loop"]
        step = len(troubles) // CASES
        chosen = troubles[PART.index(name) % step :: step]
        assert len(chosen) >= CASES
        found = {t.words(shape.threads[t.victim]): shape.mistakes(t, good) for t in chosen}
    assert {words: wrong for words, wrong in found.items() if wrong} == {}


@pytest.mark.long
def test_a_wait_for_a_suspended_thread(tmp_path: Path) -> None:
    """By its own component: no fault, but the threads that wait for it are named in all outputs."""
    text = LOCK.format(order=ORDER, settings="")
    _, _, model = plan_of(tmp_path / "plan", text, Sink())
    suspend = f"(void)seL4_TCB_Suspend({model.slots[WorkerTcb('store', 'p', 'low')]});"
    serve = f"void p_go(void) {{ camkes_work(CAMKES_MS(2)); {suspend} }}\n"
    outputs = compare_outputs(system(tmp_path, text, CODE | {"store.c": serve}))
    waits = {wait["thread"]: wait for wait in outputs.report["waits"]}
    assert set(waits) == {"low", "high"}
    for wait in waits.values():
        assert (wait["cause"], wait["because"]) == ("suspended", "store.p@low")
    assert outputs.report["faults"] == []
    assert lanes(outputs)["low"][-1].words == "waits for a reply of store.p"


HANGS = (
    "#include <string.h>\n#include <sys/syscall.h>\n#include <unistd.h>\n"
    + f"{KERNEL_MEMORY}\nvoid p_go(void) {{ camkes_work(CAMKES_MS(1)); {BLOCKS} }}\n"
)
BROKEN = "*(volatile int *)8 = 1;"


@pytest.mark.long
@pytest.mark.parametrize("protocol", ["inherited", "fixed", "propagated"])
def test_a_fault_in_the_control_thread_of_a_server(protocol: str, tmp_path: Path) -> None:
    """It is reported as that; requests are served by other threads, with the same responses."""
    text = LOCK.format(order=ORDER, settings="store._priority = 40;")
    text = text.replace("component Store {", "component Store { control;")
    text = text.replace("protocol inherited;", f"protocol {protocol};")
    found = []
    for number, body in enumerate(("", BROKEN)):
        control = f"int run(void) {{ camkes_work(CAMKES_MS(2) + 500000); {body} return 0; }}\n"
        folder = tmp_path / str(number)
        folder.mkdir()
        found.append(compare_outputs(system(folder, text, CODE | {"store.c": SERVE + control})))
    good, bad = (outputs.report for outputs in found)
    assert good["faults"] == []
    (fault,) = bad["faults"]
    assert (fault["component"], fault["thread"], fault["stops"]) == ("store", "store", [])
    assert bad["waits"] == good["waits"]
    assert bad["tasks"] == good["tasks"]


@pytest.mark.long
@pytest.mark.parametrize("trouble", ["", BROKEN, "exit(3);"])
def test_a_fault_in_a_non_preemptive_system(trouble: str, tmp_path: Path) -> None:
    """In a section at priority 255: of `x`, which shares nothing with it, only the section takes time."""
    text = LOCK.format(
        order=ORDER + " component Mid x;", settings="store.p_priority = 255; x._priority = 50;"
    )
    text = text.replace("protocol inherited;", "protocol fixed;")
    text = text.replace("x._priority = 50;", "x._priority = 50; x._period = 50 ms; x._offset = 1 ms;")
    serve = f"#include <stdlib.h>\nvoid p_go(void) {{ camkes_work(CAMKES_MS(2)); {trouble} }}\n"
    outputs = compare_outputs(system(tmp_path, text, CODE | {"store.c": serve}))
    (lane,) = [task for task in outputs.report["tasks"] if task["name"] == "x"]
    # the section of `low` began at 0.1 ms and is over at 2.1 ms; later it may have no server any more
    first = lane["job_list"][0]["response"]
    assert first == 4_100_000
    assert [fault["component"] for fault in outputs.report["faults"]] == (["store"] if trouble else [])
    waiting = {wait["thread"] for wait in outputs.report["waits"] if wait["cause"] == "fault"}
    assert waiting == ({"low", "high"} if trouble else set())


def test_a_lock_held_by_an_endless_loop_does_not_prevent_the_report(tmp_path: Path) -> None:
    """Its holder is stopped by `--timeout`."""
    text = LOCK.format(order=ORDER, settings="")
    path = system(tmp_path, text, CODE | {"store.c": HANGS})
    ran = camkes("run", path, "-o", tmp_path / "out", "--timeout", "300ms", "--json", "--for", "100ms")
    assert ran.status == 1, ran.errors
    report = conforming("run", ran.output)
    (fault,) = report["faults"]
    assert (fault["component"], fault["thread"]) == ("store", "store.p@low")
    assert set(fault["stops"]) == {"low", "high"}
    assert {wait["thread"]: wait["cause"] for wait in report["waits"]} == {"low": "fault", "high": "fault"}
    (mid,) = [task for task in report["tasks"] if task["name"] == "mid"]
    assert [job["response"] for job in mid["job_list"]] == [3_000_000, 3_000_000]
    released = {task["name"]: (task["released"], task["completed"]) for task in report["tasks"]}
    assert released == {"low": (2, 0), "mid": (2, 2), "high": (2, 0)}
