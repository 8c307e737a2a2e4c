# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Faults at every state of a lock, a part of them: `python -m tests.report.fault_states` runs all."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from camkes.capdl.model import Purpose, Use
from camkes.diagnostics import Sink
from tests.end_to_end.support import system
from tests.runtime.host import plan_of

from .compare import compare_outputs
from .fault_states import NAMES, NOTHING, SHAPES, SUSPEND, System
from .test_outputs_agree import CODE, LOCK, ORDER, lanes

CASES = 12
#: one of each kind
PART = ("plain", "fixed", "nested-fixed", "fixed-nested", "nested-3", "pooled-lock")


@pytest.mark.parametrize("name", PART)
def test_whatever_fails_the_report_is_true_and_others_go_on(name: str, tmp_path: Path) -> None:
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


def test_who_waits_for_a_thread_that_is_suspended(tmp_path: Path) -> None:
    """By its own component: no fault, but who waits for it is named in all outputs."""
    text = LOCK.format(order=ORDER, settings="")
    _, _, model = plan_of(tmp_path / "plan", text, Sink())
    suspend = f"(void)seL4_TCB_Suspend({model.slots[Use('store', Purpose.WORKER, 'p', 'low')]});"
    serve = f"void p_go(void) {{ camkes_work(CAMKES_MS(2)); {suspend} }}\n"
    outputs = compare_outputs(system(tmp_path, text, CODE | {"store.c": serve}))
    waits = {wait["thread"]: wait for wait in outputs.report["waits"]}
    assert set(waits) == {"low", "high"}
    for wait in waits.values():
        assert (wait["cause"], wait["because"]) == ("suspended", "store.p@low")
    assert outputs.report["faults"] == []
    assert lanes(outputs)["low"][-1].words == "waits for a reply of store.p"
