# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What the judge of runs and searches gets to know of a system, and what it finds in the record of a run.

The judge is written in C (`kernel/host/src/oracle/`). In a search it is a part of the host kernel; records
of runs are read by a program, `camkes-oracle`, which is built with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from camkes import process
from camkes.backends.host.codes import RUN_FAILED
from camkes.capdl.model import Role
from camkes.diagnostics import Sink
from camkes.files import write_output
from camkes.model.connectors import Carries, carries_time, support
from camkes.model.substitutes import substituted
from camkes.model.system import Procedure, System
from camkes.protocols.plan import Plan, PlannedCpi
from camkes.running.ceilings import ceilings
from camkes.running.codes import TRACE_TRUNCATED
from camkes.running.demands import Property, Violation
from camkes.running.kinds import EndReason
from camkes.running.model import Run
from camkes.running.names import NamedTask, NamedThread, TraceNames

if TYPE_CHECKING:
    from camkes.analysis.limits import BlockingLimit

_ROLES = {
    Role.CONTROL: "control",
    Role.WORKER: "worker",
    Role.MANAGER: "manager",
    Role.INTERFACE: "interface",
}

#: The largest number of tasks with which the property B is checked: bits of a word.
MOST_TASKS = 64


def oracle_table(
    plan: Plan,
    names: TraceNames,
    true: Mapping[str, int] | None = None,
    limits: Mapping[str, BlockingLimit] | None = None,
) -> str:
    """The text that `oracle/oracle_table.c` reads. `true` are the ceilings of CPIs, by default the plan's;
    `limits` are those of the property B."""
    true = _planned(plan) if true is None else true
    lines = ["mcs"] if plan.mcs else []
    lines += [_cpi(cpi, names, true[cpi.name]) for cpi in plan.cpis]
    lines += [f"context {c.name} {true.get(c.name, c.base_priority)}" for c in plan.contexts]
    lines += [
        f"raised {task.context.id} {level} {priority}"
        for task in plan.tasks
        for level, priority in enumerate(task.priorities)
        if level > 0
    ]
    lines += map(_task, names.tasks)
    contexts = {task.name: task.context.id for task in plan.tasks}
    lines += [f"helper {c.id} {contexts[task]}" for c in plan.conditions for task in c.lending.tasks()]
    lines += [
        f"turn {contexts[name]} {index} {band.highest} {'deadlines' if band.order.moves_requests else '-'}"
        for index, band in enumerate(plan.bands)
        for name in band.tasks
    ]
    limits = limits if limits is not None and len(names.tasks) <= MOST_TASKS else {}
    lines += [
        f"limit {t.id} {limits[t.name].tasks} {'-' if limits[t.name].time is None else limits[t.name].time}"
        for t in names.tasks
        if t.name in limits
    ]
    lines += [f"object {name}" for name in names.objects]
    return "\n".join([*lines, *map(_thread, names.threads)]) + "\n"


def _planned(plan: Plan) -> Mapping[str, int]:
    """The ceiling of each CPI in the plan."""
    return {cpi.name: cpi.ceiling for cpi in plan.cpis}


def _defined(plan: Plan, system: System) -> Mapping[str, int]:
    """The same from the priorities in the text of the system."""
    raised = {task.name: max(task.priorities) for task in plan.tasks if task.priorities}
    return ceilings(system, plan.requests, [c.lending for c in plan.conditions], raised)


def _cpi(cpi: PlannedCpi, names: TraceNames, ceiling: int) -> str:
    rules = cpi.overrun.rules
    words = {
        "locks": cpi.takes_lock,
        "contended": len(cpi.contexts) > 1 or cpi.monitor is not None,
        "own-priority": cpi.protocol.own_priority,
        "pooled": cpi.pooled,
        "suspends": rules.suspends,
        "helps": rules.helps,
        "binds": rules.binds,
    }
    true = ",".join(word for word, holds in words.items() if holds) or "-"
    return f"cpi {cpi.name} {names.lock(cpi.id)} {names.lock_name(cpi.id)} {ceiling} {true}"


def _task(task: NamedTask) -> str:
    timer = "-" if task.timer is None else task.timer
    # that of a task which an event releases is only the least time between two events
    period = 0 if task.event is not None else task.period or 0
    return (
        f"task {task.name} {task.id} {task.context} {task.priority} {timer} {task.offset} "
        f"{period} {task.deadline or 0}"
    )


def _thread(thread: NamedThread) -> str:
    numbers = (thread.cpi, thread.context, thread.task)
    words = ("-" if number is None else str(number) for number in numbers)
    role = _ROLES.get(thread.role, "other")
    return f"thread {thread.name} {role} {thread.priority} {' '.join(words)} {thread.domain}"


def verify(
    oracle: Path,
    trace: Path,
    names: TraceNames,
    plan: Plan,
    system: System | None,
    sink: Sink,
    *,
    at_any_time: bool = False,
) -> list[Violation]:
    """The violations in the record of a run, in the order in which they show: the first 100. `oracle` is the
    program; the table of the system is written beside `trace`. `at_any_time`: timers fired at the points of a
    schedule, not at their times. Ceilings are computed from the priorities in `system`; without it they are
    the plan's. What is damaged is left out, with all behind it, and reported. Raises OutputError."""
    true = _planned(plan) if system is None else _defined(plan, system)
    table = trace.with_name("oracle.table")
    write_output(table, oracle_table(plan, names, true).encode())
    done = process.run([str(oracle), str(table), str(trace), *(["any-time"] if at_any_time else [])])
    if done.status != 0:
        sink.report(
            RUN_FAILED,
            f"the judge of the run ended with status {done.status}",
            notes=done.errors.strip().splitlines()[-20:],
        )
    elif done.errors and not sink.has_errors:  # else whoever decoded the trace has reported it
        sink.report(TRACE_TRUNCATED, f"{trace}: {done.errors.strip()}")
    return [*_wrong_ceilings(plan, true), *map(_violation, done.output.splitlines())]


def not_judged(
    system: System, plan: Plan, run: Run, *, at_any_time: bool = False, why: str = "which a schedule decides"
) -> list[str]:
    """What no property was checked of in a run, each in a few words: what there is in the system that none is
    about, and what was left out of those that are there: `why` times of releases are, `at_any_time`."""
    cpis = {cpi.name for cpi in plan.cpis}
    plain = [
        f"{instance.name}.{interface.name}"
        for instance in system.instances
        for interface in instance.type.interfaces
        if interface.kind == "provides" and isinstance(interface.type, Procedure)
    ]
    served = {
        end.name
        for connection in system.connections
        if support(connection.connector).carries is Carries.CALLS
        for end in connection.to_ends
    }
    of_kinds = {
        "requests without a protocol": [name for name in plain if name in served and name not in cpis],
        **{
            f"waits for a {kind}": [sync.name for sync in run.names.syncs if sync.kind == kind]
            for kind in ("mutex", "semaphore", "binary semaphore")
        },
        "waits for an event": [sync.name for sync in run.names.syncs if sync.kind == "event"],
        "L for callers of what answers them when it sees fit": [
            cpi.name for cpi in plan.cpis if cpi.overrun.rules.suspends
        ],
        "the order of tasks that are served by their weights": [
            task for band in plan.bands if not band.order.moves_requests for task in band.tasks
        ],
        "code that writes no records": [
            end.name
            for connection in system.connections
            if not carries_time(connection) and not support(connection.connector).generated
            for end in (*connection.from_ends, *connection.to_ends)
        ],
    }
    of_kinds["devices, which have substitutes"] = [each.name for each, _ in substituted(system)]
    found = [f"{what} ({', '.join(dict.fromkeys(names))})" for what, names in of_kinds.items() if names]
    if system.schedule:
        found.append("B where domains have slots")
    if at_any_time:
        found.append(f"S of the times of releases, {why}")
    if any(fault.stopped for fault in run.faults):
        found.append("L at the end, as a thread stopped at a fault")
    if run.ending not in (EndReason.TIME, EndReason.IDLE):
        found.append("what came after the last record")
    return found


def _violation(line: str) -> Violation:
    time, letter, record, explanation = line.split(" ", 3)
    return Violation(int(time), Property(letter), explanation, int(record))


def _wrong_ceilings(plan: Plan, true: Mapping[str, int]) -> Iterator[Violation]:
    for cpi in plan.cpis:
        if cpi.ceiling != true[cpi.name]:
            wrong = f"the plan's ceiling of {cpi.name} is {cpi.ceiling}; expected {true[cpi.name]}"
            yield Violation(0, Property.PRIORITY, wrong, -1)
