# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Names beside a trace: they agree with the model, and a foreign or damaged file of them is a diagnostic."""

from __future__ import annotations

import json
import random
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from camkes.capdl.host_table import host_table
from camkes.capdl.model import CapabilityModel, KernelObject, ObjectKind, Role, Space, Thread
from camkes.diagnostics import Sink
from camkes.model.protocols import Protocol
from camkes.running.names import (
    TraceNames,
    load_names,
    names_from_json,
    names_path,
    names_to_json,
    save_names,
    trace_names,
)
from tests.runtime.host import plan_of

from .simulator import MS, CpiSpec, TaskSpec, make_plan, nested, simulate

pytestmark = pytest.mark.requirement("TOOL-10")


def sample() -> TraceNames:
    return simulate(*nested(), until=1)[1]


def test_names_come_from_the_model_and_the_plan() -> None:
    plan = make_plan(
        [TaskSpec("t1", 10, (0,), ("lock.p",)), TaskSpec("t2", 20, (0,), ("lock.p",))],
        [CpiSpec("lock.p", Protocol.INHERITED, (1 * MS,))],
    )
    control = Thread("t1", 0, "t1", Role.CONTROL, 10, 10, 4096, task=0)
    second = Thread("t2", 0, "t2", Role.CONTROL, 20, 20, 4096, task=1)
    worker = Thread("lock.p@t1", 0, "lock", Role.WORKER, 10, 20, 4096, interface="p", context=0)
    spaces = (
        Space("t1", ("t1",), (), (), (control,)),
        Space("t2", ("t2",), (), (), (second,)),
        Space("lock", ("lock",), (), (), (worker,)),
    )
    model = CapabilityModel((KernelObject("ep", ObjectKind.ENDPOINT),), spaces, ())
    names = trace_names(model, plan)
    assert [(t.number, t.name, t.service, t.cpi, t.context, t.task) for t in names.threads] == [
        (0, "t1", "", None, None, 0),
        (1, "t2", "", None, None, 1),
        (2, "lock.p@t1", "lock.p", 0, 0, None),
    ]
    assert names.object_name(0) == "ep"
    assert names.cpi_name(0) == "lock.p"


def test_json_keeps_all_names() -> None:
    assert names_from_json(names_to_json(sample())) == sample()


def test_saved_beside_the_trace(tmp_path: Path) -> None:
    sink = Sink()
    trace = tmp_path / "run.trace"
    save_names(trace, sample(), sink)
    assert names_path(trace).exists()
    assert load_names(trace, sink) == sample()
    assert not sink.diagnostics


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "x"}', "null", "not json", '{"format": 1}'])
def test_a_foreign_file_of_names_is_a_diagnostic(tmp_path: Path, text: str) -> None:
    trace = tmp_path / "run.trace"
    names_path(trace).write_text(text)
    sink = Sink()
    assert load_names(trace, sink) is None
    assert [d.code.number for d in sink.diagnostics] == ["E0804"]


@given(st.randoms(use_true_random=False))
def test_a_damaged_file_of_names_is_an_error_or_has_names_that_agree(rng: random.Random) -> None:
    document = json.loads(names_to_json(sample()))
    for _ in range(rng.randrange(1, 4)):
        at = document[rng.choice(list(document))]
        while isinstance(at, list | dict) and at:
            key = rng.randrange(len(at)) if isinstance(at, list) else rng.choice(list(at))
            if not isinstance(at[key], list | dict) or not at[key] or rng.random() < 0.1:
                at[key] = rng.choice(
                    [None, -1, 0, 1, 2, 1 << 70, 0.5, "", "x", [], {}, [1], ["a", "b"], True]
                )
                break
            at = at[key]
    with suppress(ValueError):
        names = names_from_json(json.dumps(document))
        assert all(names.thread(thread.number) is thread for thread in names.threads)
        assert all(names.cpi(cpi.id) is cpi for cpi in names.cpis)


def test_objects_have_the_numbers_of_the_boot_table(tmp_path: Path) -> None:
    """Of a system with every kind of object, CNodes and VSpaces among them, which the table does not have."""
    text = """
    procedure P { void go(); }
    component T { control; requestor; uses P s; dataport Buf d; }
    component S { provides P p with priority_protocol inherited; dataport Buf d; }
    assembly { composition { component T a; component T b; component S store;
        connection seL4RPCCall calls(from a.s, from b.s, to store.p);
        connection seL4SharedData data(from a.d, from b.d, to store.d); }
        configuration { a._priority = 1; a._period = 1 ms; b._priority = 2; b._offset = 1 ms; } }
    """
    system, plan, model = plan_of(tmp_path, text, Sink())
    names = trace_names(model, plan, system)
    lines = host_table(model, {space.name: "x" for space in model.spaces}).splitlines()
    assert list(names.objects) == [line.split()[1] for line in lines if line.startswith("object ")]
    assert [t.name for t in names.threads] == [
        line.split()[1] for line in lines if line.startswith("thread ")
    ]
    assert any(o.kind in (ObjectKind.CNODE, ObjectKind.VSPACE) for o in model.objects)
    timers = [None if task.timer is None else names.object_name(task.timer) for task in names.tasks]
    assert timers == ["a:timer", "b:timer"]
    assert {names.object_service(n) for n, o in enumerate(names.objects) if o.startswith("store.p@")} == {
        "store.p",
        "store.p@a",
        "store.p@b",
    }
