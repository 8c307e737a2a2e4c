# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""None of the schedules that are tried breaks a protocol, and a broken protocol shows."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from camkes import pipeline
from camkes.backends.host import kernel as kernel_module
from camkes.backends.host import sources as sources_module
from camkes.diagnostics import Sink
from camkes.model.system import System
from camkes.protocols import analyse
from camkes.protocols.plan import Plan
from camkes.resources import RUNTIME
from camkes.running.kinds import EndReason, Kind
from tests.kit import copy_runtime, ready_kit
from tests.runtime import systems
from tests.runtime.explore import DURATION, schedules
from tests.runtime.host import build, place
from tests.runtime.systems import Contended

pytestmark = pytest.mark.requirement("RT-7")

#: what these have is in others too: one more lock, a CPI in between, equal priorities, a fixed priority
LONG = (
    *(systems.ONE_LOCK, systems.RANKS, systems.CHAIN, systems.THREE_LOCKS, systems.POOL, systems.FIXED_LEAF),
    *(systems.TWO_NESTED, systems.EQUALS, systems.FIXED_CALLER),
)


@pytest.mark.long
@pytest.mark.parametrize(
    "system",
    [pytest.param(s, id=s.name, marks=[pytest.mark.long] if s in LONG else []) for s in systems.ALL],
)
def test_a_sample_of_schedules_keeps_the_properties(system: Contended, tmp_path: Path) -> None:
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


MANAGER = "manager.c"
NESTED, QUEUE = "nested.c", "queue.c"
CHECK = "serve.c"
REQUEST, SERVE = "include/camkes/request.h", "include/camkes/serve.h"

MUTANTS = (
    Mutant(
        "no-boost",
        MANAGER,
        "    inherit_waiters(cpi);\n    camkes_overrun_wait(",
        "    camkes_overrun_wait(",
        systems.ONE_LOCK,
    ),
    Mutant(
        "boost-stays",
        MANAGER,
        "    inherit(cpi, from, false, from->id, false); /* first: it may be ready */\n",
        "",
        systems.ONE_LOCK,
    ),
    Mutant(
        "no-exclusion",
        SERVE,
        "atomic_compare_exchange_strong(lock, &found, held)",
        "(atomic_store(lock, held), found == 0)",
        systems.ONE_LOCK,
    ),
    Mutant(
        "last-come-first",
        QUEUE,
        "CAMKES_RANKS - 1 - cpi->arrivals++",
        "1 + cpi->arrivals++",
        systems.EQUALS,
    ),
    Mutant(
        "lowest-first",
        QUEUE,
        "rank > cpi->context[index].rank",
        "rank < cpi->context[index].rank",
        systems.RANKS,
    ),
    Mutant(
        "lost-waiter",
        MANAGER,
        "to->held | (cpi->first != 0 ? CAMKES_WAITERS : 0)",
        "to->held",
        systems.EQUALS,
    ),
    Mutant(
        "push-too-late",
        REQUEST,
        "CAMKES_UNLIKELY(atomic_load(&context->effective) > context->base)",
        "atomic_load(&context->effective) == 0",
        systems.RAISED_BEFORE,
    ),
    Mutant(
        "no-push",
        MANAGER,
        "        camkes_nested_push(context);\n",
        "        ;\n",
        systems.CHAIN,
    ),
    Mutant(
        "no-clear",
        NESTED,
        "    settle(self);\n    clear(self->context, manager, to->name, false);\n",
        "    settle(self);\n",
        systems.CHAIN,
    ),
    Mutant(
        "waiter-not-moved",
        MANAGER,
        "        camkes_queue_change(cpi, (uint16_t)(context - cpi->context), priority);\n",
        "        context->request = priority;\n",
        systems.QUEUE_MOVES,
    ),
    Mutant(
        "pool-stays-at-ceiling",
        MANAGER,
        "    set_priority(cpi, context, atomic_load(&context->effective));\n",
        "",
        systems.POOL,
    ),
)


def break_runtime(
    changes: Mapping[str, tuple[str, str]],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    mcs: bool = False,
) -> None:
    """Build with a copy of the runtime in which in each file, which is named with its folder or without, one
    text is replaced by another. Only these are compiled, and what has the functions of headers; the other
    objects are those that every build uses."""
    runtime = folder / "runtime"
    shutil.copytree(RUNTIME, runtime)
    changed = {place(file) for file in changes}
    if any(file.suffix == ".h" for file in changed):
        changed.add(place("inline_host.c"))
    for source in (runtime / "src").rglob("*.c"):
        if source.relative_to(runtime) not in changed:
            source.unlink()
    for file, (good, bad) in changes.items():
        path = runtime / place(file)
        text = path.read_text()
        assert good in text
        path.write_text(text.replace(good, bad))
    kit = ready_kit(folder / "kernel", mcs=mcs)
    make_runtime = kernel_module._make_runtime

    def make_changed(work: Path, entry: Path, *others: Any) -> bool:
        copy_runtime(kit, entry, changed)
        return make_runtime(work, entry, *others)

    monkeypatch.setattr(kernel_module, "_make_kernel", lambda *_: kit.kernel)  # is as it was
    monkeypatch.setattr(kernel_module, "_make_runtime", make_changed)
    monkeypatch.setattr(kernel_module, "RUNTIME", runtime)
    monkeypatch.setattr(sources_module, "RUNTIME", runtime)
    # its objects must not get among those that other builds share
    monkeypatch.setattr(kernel_module, "cache_folder", lambda: str(folder / "cache"))


@pytest.mark.long  # about the search itself, and up to 210 schedules for each
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: m.name)
def test_a_broken_runtime_is_found_out(
    mutant: Mutant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = {mutant.file: (mutant.good, mutant.bad)}
    break_runtime(changes, tmp_path, monkeypatch)
    built = build(tmp_path / "system", mutant.system.text, mutant.system.code)
    assert any(
        schedule.run.violations() or schedule.run.status != 0
        for schedule in schedules(built, deviations=2, limit=150, seeds=60)
    )


#: a fault, where a record is not one of the component that writes it
NOT_ITS_OWN = "writes a record of the trace that is not its own"
#: what only the judge can notice, or the kernel by its record, in the default schedule and a run that does
#: not end idle: the system, the property, and the replacement in which file
SILENT = {
    "grant-not-sent": (
        systems.ONE_LOCK,
        "L",
        {
            MANAGER: (
                "        seL4_Send(to->reply, seL4_MessageInfo_new(0, 0, 0, 0));\n",
                "",
            )
        },
    ),
    "request-not-answered": (
        systems.ONE_LOCK,
        "L",
        {
            SERVE: (
                "camkes_platform_reply_receive_registers("
                "self->endpoint, reply, &request->badge, registers);",
                "((void)reply, camkes_platform_receive(self->endpoint, &request->badge));\n"
                "    camkes_registers_from_buffer(registers);",
            )
        },
    ),
    "task-of-another": (
        systems.CHAIN,
        NOT_ITS_OWN,
        {
            REQUEST: (": label |", ": (label ^ (seL4_Word)1 << 8) |"),
            CHECK: ("if (!is_task_of(", "if (caller == NULL && is_task_of("),
        },
    ),
    "task-in-the-record": (
        systems.ONE_LOCK,
        NOT_ITS_OWN,
        {SERVE: ("camkes_label_task(self->label),", "(uint64_t)(camkes_label_task(self->label) ^ 1u),")},
    ),
    "late-release": (
        systems.ONE_LOCK,
        "S",
        {"task.c": (": task->offset + job", ": task->offset + 1 + job")},
    ),
}  # fmt: skip


@pytest.mark.mostly_long("late-release")
@pytest.mark.parametrize("name", SILENT)
def test_a_defect_that_does_not_stop_a_run_is_found(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    system, broken, changes = SILENT[name]
    break_runtime(changes, tmp_path, monkeypatch)
    run = build(tmp_path / "system", system.text, system.code).run(duration=DURATION)
    if broken == NOT_ITS_OWN:
        assert run.status == 1 and NOT_ITS_OWN in run.errors
        return
    assert run.status == 0, run.errors
    assert run.of(Kind.END)[-1].args == (EndReason.TIME,)
    assert broken in {violation.property.value for violation in run.violations()}


@pytest.mark.long
@pytest.mark.parametrize(
    "system", [systems.FIXED_LEAF, systems.FIXED_CALLER, systems.ONE_LOCK], ids=lambda s: s.name
)
def test_a_ceiling_of_the_plan_that_is_too_low_is_found_out(
    system: Contended, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def low(system: System, sink: Sink, calls: object = None) -> Plan | None:
        plan = analyse(system, sink)
        assert plan is not None
        cpis = tuple(replace(cpi, ceiling=cpi.ceiling - 5) for cpi in plan.cpis)
        return replace(plan, cpis=cpis)

    monkeypatch.setattr(pipeline, "plan", low)
    run = build(tmp_path, system.text, system.code).run(duration=DURATION)
    assert run.violations()
    violated = {str(v).partition(" ns: ")[2].partition(" is ")[0] for v in run.violations()}
    assert {f"P: the plan's ceiling of {cpi.name}" for cpi in run.plan.cpis} <= violated
    if "fixed" in system.name:
        # and that threads have run too low
        assert any("its effective priority is" in str(v) for v in run.violations())
