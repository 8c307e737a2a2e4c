# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A mistake in the runtime is found, one of each kind, and the schedule that shows it can be repeated."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from camkes.backends.host.explore import SearchOptions, write_choices
from camkes.resources import RUNTIME
from tests.explore import test_bands, test_budgets, test_helpers, test_monitors, test_timed_waits
from tests.explore.search import LIMIT, built, search
from tests.report import test_overrun_mistakes
from tests.runtime import systems
from tests.runtime.host import place
from tests.runtime.systems import Contended
from tests.runtime.test_exploration import MUTANTS, SILENT, break_runtime

pytestmark = pytest.mark.requirement("AN-21")


@dataclass(frozen=True)
class Planted:
    """In `file`, `bad` replaces `good`; `properties` are those of which one is violated in `system`."""

    kind: str
    file: str
    good: str
    bad: str
    system: Contended
    properties: str
    scheduling: str = "fifo"


PLANTED = (
    Planted(
        "lost-wake-up",
        "manager.c",
        "            return CAMKES_MESSAGE_GOOD; /* to the waiter */\n",
        "            return REPLY_SAVED;\n",
        systems.CHAIN,
        "L",
    ),
    Planted(
        "lost-wake-up-of-several",
        "manager.c",
        "        seL4_Send(to->reply, seL4_MessageInfo_new(0, 0, 0, 0));\n",
        "",
        systems.RANKS,
        "L",
    ),
    Planted(
        "manager-not-woken",
        "lock.c",
        "        seL4_Signal(cpi->wake); /* now",
        "        (void)cpi; /* now",
        systems.CHAIN,
        "L",
        "rr",
    ),
    Planted(
        "handed-over-before-the-priority-is-returned",
        "manager.c",
        "    inherit(cpi, from, false, from->id, false); /* first: it may be ready */\n    camkes_point();\n"
        "    CAMKES_TRACE(LOCK_FREE, cpi->id, from->id);\n",
        "    CAMKES_TRACE(LOCK_FREE, cpi->id, from->id);\n    inherit(cpi, from, false, from->id, false);\n",
        systems.CHAIN,
        "PH",
        "rr",
    ),
    Planted(
        "late-update",
        "nested.c",
        "if (atomic_load(&context->nested) == manager) {",
        "{",
        systems.CHAIN,
        "ZP",
        "rr",
    ),
    Planted(
        "priority-not-returned",
        "manager.c",
        "    inherit(cpi, from, false, from->id, false); /* first: it may be ready */\n",
        "",
        systems.ONE_LOCK,
        "FPZ",
    ),
    Planted(
        "wrong-heir",
        "queue.c",
        "after != 0 && cpi->context[after - 1].rank > cpi->context[index].rank",
        "after != 0 && cpi->context[after - 1].rank < cpi->context[index].rank",
        systems.RANKS,
        "H",
    ),
    Planted(
        "missing-transitivity",
        "manager.c",
        "        camkes_nested_push(context);\n",
        "        ;\n",
        systems.CHAIN,
        "P",
    ),
)


#: tests that try other mistakes, with the place in `MISTAKES` of the text that each replaces
OTHERS = {
    test_bands: 1,
    test_budgets: 0,
    test_helpers: 1,
    test_monitors: 1,
    test_overrun_mistakes: 2,
    test_timed_waits: 2,
}


def test_mistakes_fit_the_runtime() -> None:
    """Most of them are tried in long tests only."""
    for planted in PLANTED:
        text = (RUNTIME / place(planted.file)).read_text()
        assert text.count(planted.good) == 1, planted.kind
    for mutant in MUTANTS:
        assert mutant.good in (RUNTIME / place(mutant.file)).read_text(), mutant.name
    for name, (_, _, changes) in SILENT.items():
        for file, (good, _) in changes.items():
            assert good in (RUNTIME / place(file)).read_text(), name
    protocols = "".join(path.read_text() for path in (RUNTIME / "src").rglob("*.c"))
    for module, index in OTHERS.items():
        for name, words in module.MISTAKES.items():
            assert words[index] in protocols, (module.__name__, name)


@pytest.mark.mostly_long("wrong-heir")
@pytest.mark.parametrize(
    "planted",
    # the search for it is long, and tests/runtime/test_late_updates.py is about it too
    [
        pytest.param(p, id=p.kind, marks=[pytest.mark.long] if p.kind == "late-update" else [])
        for p in PLANTED
    ],
)
def test_a_planted_mistake_is_found(
    planted: Planted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_runtime({planted.file: (planted.good, planted.bad)}, tmp_path, monkeypatch)
    broken = built(tmp_path / "system", planted.system)
    options = SearchOptions(scheduling=planted.scheduling, seconds=LIMIT)
    violation = search(broken, options).violation
    assert violation is not None
    assert violation.property in planted.properties
    # the search says the same of that schedule alone
    again = search(broken, SearchOptions(scheduling=planted.scheduling, choices=violation.choices))
    assert again.violation is not None
    assert (again.violation.property, again.violation.explanation) == (
        violation.property,
        violation.explanation,
    )
    # and so does the trace of a run with that schedule, or the kernel of a fault
    choices = f"script:{write_choices(tmp_path, violation.choices)}"
    run = broken.run("--arrivals", "1", "--scheduling", planted.scheduling, "--choices", choices)
    if violation.property == "F":
        assert run.status == 1 and "fault: " in run.errors
    else:
        assert violation.property in {each.property.value for each in run.violations()}
    # several processes find the same one
    several = search(broken, SearchOptions(scheduling=planted.scheduling, seconds=LIMIT, processes=3))
    assert several.violation == violation


@pytest.mark.long
def test_the_second_read_of_nested_is_needed_under_round_robin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without time slices that end, no schedule of two nested locks and three tasks needs it."""
    late = next(p for p in PLANTED if p.kind == "late-update")
    break_runtime({late.file: (late.good, late.bad)}, tmp_path, monkeypatch)
    found = search(built(tmp_path / "system", late.system), SearchOptions(bound=2, seconds=LIMIT))
    assert found.violation is None
    assert not found.state.stopped
