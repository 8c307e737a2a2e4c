# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""No schedule breaks a protocol, and a broken protocol shows."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from camkes.build import host as build_host_module
from camkes.build.places import RUNTIME
from camkes.report.trace.kinds import Kind
from tests.runtime import systems
from tests.runtime.explore import schedules
from tests.runtime.host import build
from tests.runtime.systems import Contended


@pytest.mark.parametrize("system", systems.ALL, ids=lambda s: s.name)
def test_every_schedule_keeps_the_properties(system: Contended, tmp_path: Path) -> None:
    built = build(tmp_path, system.text, system.code)
    contended = 0
    for schedule in schedules(built, deviations=2, limit=40, seeds=6):
        found = schedule.run.violations()
        assert not found, f"{schedule.options} {schedule.script}: {found[0]}"
        assert schedule.run.status == 0, schedule.run.errors
        assert len(schedule.run.of(Kind.JOB_END)) >= len(system.tasks)
        contended += any(schedule.run.of(Kind.LOCK_WAIT))
    if "fixed" not in system.name and system is not systems.NON_PREEMPTIVE:
        assert contended > 0, "the system was meant to contend"


@dataclass(frozen=True)
class Mutant:
    """A way to break the runtime, and a system where it matters."""

    name: str
    file: str
    good: str
    bad: str
    system: Contended


MUTANTS = (
    Mutant(
        "no-boost",
        "manager.c",
        "    inherit(cpi, held_by, true, held_by->id);\n    return REPLY_LATER;",
        "    return REPLY_LATER;",
        systems.ONE_LOCK,
    ),
    Mutant("boost-stays", "manager.c", "    inherit(cpi, from, false, from->id);\n", "", systems.ONE_LOCK),
    Mutant(
        "no-exclusion",
        "lock.c",
        "atomic_compare_exchange_strong(&cpi->lock, &found, camkes_held_by(context))",
        "(atomic_store(&cpi->lock, camkes_held_by(context)), found == 0)",
        systems.ONE_LOCK,
    ),
    Mutant(
        "last-come-first",
        "queue.c",
        "(x->arrival - y->arrival) < 0",
        "(x->arrival - y->arrival) > 0",
        systems.EQUALS,
    ),
    Mutant("lowest-first", "queue.c", "x->request > y->request", "x->request < y->request", systems.RANKS),
    Mutant(
        "lost-waiter",
        "manager.c",
        "camkes_held_by(next) | (cpi->queued > 0 ? CAMKES_WAITERS : 0)",
        "camkes_held_by(next)",
        systems.EQUALS,
    ),
    Mutant(
        "push-too-late",
        "nested.c",
        "    if (priority <= context->base) {\n        return false;\n    }\n",
        "    if (priority != 0) {\n        return false;\n    }\n",
        systems.RAISED_BEFORE,
    ),
    Mutant(
        "no-push",
        "manager.c",
        "        camkes_nested_push(context, priority);\n",
        "        ;\n",
        systems.CHAIN,
    ),
    Mutant("no-clear", "nested.c", "    if (told) {\n", "    if (told && false) {\n", systems.CHAIN),
    Mutant(
        "waiter-not-moved",
        "manager.c",
        "        camkes_queue_raise(cpi, caller->context);\n"
        "        inherit(cpi, held_by, true, held_by->id);\n",
        "        ;\n",
        systems.QUEUE_MOVES,
    ),
    Mutant(
        "pool-stays-at-ceiling",
        "manager.c",
        "    set_priority(cpi, context, atomic_load(&context->effective));\n",
        "",
        systems.POOL,
    ),
)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: m.name)
def test_a_broken_runtime_is_found_out(
    mutant: Mutant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = tmp_path / "runtime"
    shutil.copytree(RUNTIME, runtime)
    path = runtime / "src" / "protocols" / mutant.file
    text = path.read_text()
    assert mutant.good in text
    path.write_text(text.replace(mutant.good, mutant.bad))
    monkeypatch.setattr(build_host_module, "RUNTIME", runtime)
    # its objects must not get among those that other builds share
    monkeypatch.setattr(build_host_module, "cache_folder", lambda name: str(tmp_path / "cache" / name))
    built = build(tmp_path / "system", mutant.system.text, mutant.system.code)
    assert any(
        schedule.run.violations() or schedule.run.status != 0
        for schedule in schedules(built, deviations=2, limit=150, seeds=60)
    )
