# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What a task has on an MCS kernel besides its thread: its server, and the handler of its overruns."""

from __future__ import annotations

from collections.abc import Iterator

from camkes.capdl import uses
from camkes.capdl.details import Rights, Scheduling
from camkes.capdl.model import EXTENSION, KernelObject, ObjectKind, Thread
from camkes.capdl.time_manager import ENDPOINT, Badge
from camkes.model.limits import NO_NUMBER
from camkes.model.overrun import OverrunPolicy, ServerKind
from camkes.protocols.cycles import reached
from camkes.protocols.plan import Plan, PlannedCpi, PlannedTask
from camkes.protocols.time import Reservation

#: the part of the name of the thread that handles the overruns of a task
HANDLER = "overrun"


def server(plan: Plan, thread: Thread, granted: Scheduling) -> Scheduling:
    """What the scheduling context of a thread grants, as the server of its task if that is a task's."""
    task = next((t for t in plan.tasks if t.id == thread.task), None)
    if task is None or task.time is None:
        return granted
    return granted.with_server(task.time.server is ServerKind.SPORADIC, task.refills)


def used_extension(task: PlannedTask | None) -> Reservation | None:
    """What a job executes on when it has used up the budget of its task; None: it waits."""
    if task is None or task.time is None or task.time.overrun is not OverrunPolicy.EXTEND:
        return None
    return task.time.extension


def lendable(plan: Plan, cpi: PlannedCpi) -> Iterator[tuple[str, int, KernelObject]]:
    """What requests to a CPI can execute on, as far as its manager may bind it: a name, the id of the task's
    context (NO_NUMBER: none), the scheduling context. First those of tasks, then extensions of these and of
    CPIs further up."""
    ids = {context.name: context.id for context in plan.contexts}
    extended = [task for task in cpi.payers if used_extension(plan.task(task)) is not None]
    names = [(task, ids[task], f"{task}:sc") for task in cpi.payers]
    names += [(f"{task}{EXTENSION}", ids[task], f"{task}{EXTENSION}:sc") for task in extended]
    callers: dict[str, list[str]] = {}
    for request in plan.requests:
        callers.setdefault(request.callee, []).append(request.caller)
    above = reached(callers.get(cpi.name, ()), lambda name: callers.get(name, ()))
    extending = [
        c.name for c in plan.cpis if c.name in above and c.overrun.rules.extends and c.tasks and c is not cpi
    ]
    names += [(f"{name}{EXTENSION}", NO_NUMBER, f"{name}{EXTENSION}:sc") for name in extending]
    for name, context, item in names:
        yield name, context, KernelObject(item, ObjectKind.SCHEDULING_CONTEXT)


def has_handler(task: PlannedTask | None) -> bool:
    """Whether a thread handles the overruns of a task."""
    rules = None if task is None or task.time is None else task.time.overrun.rules
    return (rules is not None and (rules.raises or rules.stops)) or used_extension(task) is not None


def handler_caps(task: PlannedTask | None) -> Iterator[tuple[uses.CapUse, KernelObject, Rights, int]]:
    """The capabilities of the handler, and of the control thread, whose timeouts and ends of jobs go there:
    use, object, rights, badge."""
    if task is None or not has_handler(task):
        return
    endpoint = KernelObject(f"{task.name}!{HANDLER}:endpoint", ObjectKind.ENDPOINT)
    yield uses.OverrunHandler(task.name), endpoint, Rights.READ, 0
    yield uses.TaskTimeout(task.name), endpoint, Rights.CALL, 1
    own = KernelObject(f"{task.name}:sc", ObjectKind.SCHEDULING_CONTEXT)
    yield uses.TaskTime(task.name), own, Rights.NONE, 0
    extension = used_extension(task)
    if extension is not None:
        granted = Scheduling(extension.period // 1_000, extension.budget // 1_000)
        more = KernelObject(f"{task.name}{EXTENSION}:sc", ObjectKind.SCHEDULING_CONTEXT, details=granted)
        yield uses.TaskExtension(task.name), more, Rights.NONE, 0
    elif task.time is not None and task.time.overrun.rules.raises:
        yield uses.Raise(task.name), ENDPOINT, Rights.CALL, Badge.RAISE + task.id
